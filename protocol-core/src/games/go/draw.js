const COLUMNS = "ABCDEFGHJ", COLOURS = ["black", "white"];

function draw(seats, step) {
  const { board, captures = {}, points = {}, last_move: last, turn, ended_by: end, komi } = step.view;
  const size = board.length, EDGE = .8;
  const lines = board.map((_, at) => `M.5 ${at + .5}H${size - .5}M${at + .5} .5V${size - .5}`).join("");
  const at = (x, y, radius, name) => shape("circle", { cx: x + .5, cy: y + .5, r: radius, class: name });
  const mark = (x, y, words) => shape("text", { x, y, class: "mark" }, words);
  const marks = board.flatMap((_, at) => [mark(at + .5, size + .3, COLUMNS[at]), mark(-.3, at + .5, size - at)]);
  const dots = [[2, 2], [6, 2], [4, 4], [2, 6], [6, 6]].map(([x, y]) => at(x, y, .09, "dot"));
  const stones = board.flatMap((row, y) => row.flatMap((stone, x) => stone ? [at(x, y, .45, "stone" + stone)] : []));
  const spot = last && COLUMNS.indexOf(last.move[0]) >= 0 && last.move !== "pass" ? [COLUMNS.indexOf(last.move[0]), size - last.move[1]] : null;
  const words = `Go board with ${stones.length} stones${last ? `, last move ${last.move}` : ""}`;
  const wood = picture(size, size, words, shape("rect", { x: -EDGE, y: -EDGE / 2, width: size + EDGE * 1.5, height: size + EDGE * 1.5, class: "wooden" }),
    shape("path", { d: lines, class: "lines" }), ...dots, ...marks, ...stones, ...spot ? [at(...spot, .2, "last")] : []);
  wood.setAttribute("viewBox", `${-EDGE} ${-EDGE / 2} ${size + EDGE * 1.5} ${size + EDGE * 1.5}`);
  const told = at => [`${["Black", "White"][at]}${end ? "" : turn === COLOURS[at] ? ", to move" : ""}`, `${count(points[COLOURS[at]] ?? 0, "point")}, ${captures[COLOURS[at]] ?? 0} taken`];
  return make("div", "game stones", wood, sides(seats, step, "", (_, seat) => told(seat)),
    key([[at(0, 0, .4, "last"), "last stone"]], end ? `Ended by ${end.replaceAll("_", " ")}.` : last?.move === "pass" ? "The last move was a pass; a second one ends the match." : `Points count White's ${komi} for moving second.`));
}

game("go", {
  draw, unscored: true,
  style: `.dot { fill: var(--wood-line); }`,
});
