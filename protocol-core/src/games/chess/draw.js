// Each piece in a square of ten by ten.
const FOOT = "M2.1 8.2h5.8v1H2.1Z";
const MEN = {
  p: "M5 2.3a1.5 1.5 0 0 1 1 2.6c1 .6.7 1.8 1.5 2.9h-5c.8-1.1.5-2.3 1.5-2.9a1.5 1.5 0 0 1 1-2.6Z",
  r: "M2.4 1.7h1.3v.9h.7v-.9h1.2v.9h.7v-.9h1.3v2.1l-1 .8v2.2l1 1H2.4l1-1V4.6l-1-.8Z",
  n: "M2.9 7.8c-.1-2 1.6-2.6 1.8-3.6-.7.5-1.5.8-2.2.6-.6-.2-.8-.9-.4-1.4l1.5-1.6.1-1.1 1 .7c2.6.1 3.6 2.7 3.2 6.4Z",
  b: "M5 .7a.7.7 0 0 1 .5 1.2c1.7 1.2 2.3 3 1 4.6l.8 1.3H2.7l.8-1.3c-1.3-1.6-.7-3.4 1-4.6A.7.7 0 0 1 5 .7Z",
  q: "M2.6 7.8 1 2.9l2.2 1.9L3.6 1.3 5 4.3l1.4-3 .4 3.5L9 2.9 7.4 7.8Z",
  k: "M4.6.6h.8v.8h.8v.8h-.8v.9c2.6-.7 4.4 1 2.6 3.3-.4.5-.6.9-.7 1.4H2.7c-.1-.5-.3-.9-.7-1.4-1.8-2.3 0-4 2.6-3.3v-.9h-.8v-.8h.8Z",
};
const WORTH = { P: 1, N: 3, B: 3, R: 5, Q: 9 }, COLOURS = ["white", "black"];

const man = (letter, x, y, size = 1) => shape("path", { d: MEN[letter.toLowerCase()] + FOOT, transform: `translate(${x} ${y}) scale(${size / 10})`, class: letter === letter.toLowerCase() ? "man dark" : "man" });
// Of a square's name: where it is drawn, seen from White.
const spot = name => ({ x: name.charCodeAt(0) - 97, y: 8 - name[1] });

function draw(seats, step) {
  const { fen, last_move: last, captured = {}, check, turn, ended_by: end } = step.view, EDGE = .5;
  const rows = fen.split(" ")[0].split("/").map(row => [...row.replace(/\d/g, count => ".".repeat(count))]);
  const field = (x, y, name) => shape("rect", { x, y, width: 1, height: 1, class: name });
  const mark = (x, y, words) => shape("text", { x, y, class: "mark" }, words);
  const marks = rows.flatMap((_, at) => [mark(at + .5, 8.25, "abcdefgh"[at]), mark(-.25, at + .5, 8 - at)]);
  const each = paint => rows.flatMap((row, y) => row.flatMap((letter, x) => paint(letter, x, y) ?? []));
  const went = last ? [last.from, last.to].map(spot).map(({ x, y }) => field(x, y, "went")) : [];
  const king = (fen.split(" ")[1] === "w") ? "K" : "k";
  const board = picture(8, 8, `Chess board${last ? `, last move ${last.san}` : ""}. FEN: ${fen}`,
    shape("rect", { x: -EDGE, y: -EDGE, width: 8 + 2 * EDGE, height: 8 + 2 * EDGE, class: "frame" }),
    ...each((_, x, y) => field(x, y, (x + y) % 2 ? "field odd" : "field")), ...went,
    ...check ? each((letter, x, y) => letter === king ? field(x, y, "threat") : null) : [],
    ...each((letter, x, y) => letter === "." ? null : man(letter, x, y)), ...marks);
  board.setAttribute("viewBox", `${-EDGE} ${-EDGE} ${8 + 2 * EDGE} ${8 + 2 * EDGE}`);
  // What a side has taken are the other side's pieces.
  const sum = colour => [...captured[colour] || ""].reduce((all, letter) => all + WORTH[letter], 0);
  const loot = at => {
    const taken = [...captured[COLOURS[at]] || ""], WIDE = 8, GAP = .7;
    if (!taken.length) return "";
    const men = taken.map((letter, place) => man(at ? letter : letter.toLowerCase(), place % WIDE * GAP, Math.floor(place / WIDE)));
    const row = picture(WIDE * GAP + .3, Math.ceil(taken.length / WIDE), `Has taken ${taken.join(" ")}`, ...men);
    row.setAttribute("class", "loot");
    return row;
  };
  const ahead = at => sum(COLOURS[at]) > sum(COLOURS[1 - at]) ? `, +${sum(COLOURS[at]) - sum(COLOURS[1 - at])}` : "";
  const state = at => end ? "" : turn === COLOURS[at] ? check ? ", in check" : ", to move" : "";
  return make("div", "game chess", board, sides(seats, step, "", (_, at) => [["White", "Black"][at] + ahead(at) + state(at), loot(at)]),
    key([[field(0, 0, "went"), "last move"], [field(0, 0, "threat"), "king in check"]],
      end ? `Ended by ${end.replaceAll("_", " ")}.` : last ? `Last move: ${last.san}` : "White begins."));
}

game("chess", {
  draw, unscored: true,
  style: `
.chess .frame { fill: #4b3621; } .chess .field { fill: #f0d9b5; } .chess .field.odd { fill: #b58863; } .chess .mark { fill: #f0d9b5; font-size: .34px; }
.went { fill: #e6c800; opacity: .55; } .threat { fill: #dc2626; opacity: .8; }
.man { fill: #fff; stroke: #1c1917; stroke-width: .38; stroke-linejoin: round; } .man.dark { fill: #292524; stroke: #f5f5f4; stroke-width: .22; }
.loot { width: 100%; max-width: 12em; }
.chess .of0 { --seat: var(--white); } .chess .of1 { --seat: var(--black); } .chess .side { border-color: var(--line); } .chess .side::before { border: 1px solid var(--soft); }
`,
});
