function draw(seats, step) {
  const { board, energy, sealedStones = [], quietZoneCells = [], lastMove } = step.view.extra;
  const size = board.length, ends = [.5, size - .5], EDGE = .8, here = { row: 0, col: 0 };
  const lines = board.map((_, at) => `M${ends[0]} ${at + .5}H${ends[1]}M${at + .5} ${ends[0]}V${ends[1]}`).join("");
  const at = (cell, radius, name) => shape("circle", { cx: cell.col + .5, cy: cell.row + .5, r: radius, class: name });
  const quiet = cell => shape("rect", { x: cell.col + .06, y: cell.row + .06, width: .88, height: .88, rx: .15, class: "quiet of" + cell.owner });
  const seal = cell => at(cell, .33, "seal"), last = (cell, radius) => at(cell, radius, "last");
  const mark = (x, y, words) => shape("text", { x, y, class: "mark" }, words);
  const marks = board.flatMap((_, at) => [mark(at + .5, -.3, String.fromCharCode(65 + at)), mark(-.3, at + .5, at + 1)]);
  const stones = board.flatMap((row, y) => row.flatMap((stone, x) => stone ? [at({ row: y, col: x }, .43, "stone" + stone)] : []));
  const words = `Gomoku board with ${stones.length} stones, ${sealedStones.length} of them sealed`;
  const wood = picture(size, size, words,
    shape("rect", { x: -EDGE, y: -EDGE, width: size + EDGE, height: size + EDGE, class: "wooden" }), shape("path", { d: lines, class: "lines" }), ...marks,
    ...quietZoneCells.map(quiet), ...stones, ...sealedStones.map(seal), ...lastMove ? [last(lastMove, .2)] : []);
  wood.setAttribute("viewBox", `${-EDGE} ${-EDGE} ${size + EDGE} ${size + EDGE}`);
  const row = step.over && five(board);
  if (row) wood.append(shape("path", { d: `M${row[0].col + .5} ${row[0].row + .5}L${row.at(-1).col + .5} ${row.at(-1).row + .5}`, class: "five" }));
  return make("div", "game stones", wood, sides(seats, step, "", (_, seat) => `${["Black", "White"][seat]}, energy ${energy?.[seat] ?? 0}`),
    key([[last(here, .4), "last stone"], [seal(here), "sealed: stays where it is"], [quiet({ ...here, owner: 1 }), "closed to White"], [quiet({ ...here, owner: 2 }), "closed to Black"]], "Five in a row win. Energy buys skills."));
}

// The stones that have won: five or more of a colour in a row.
function five(board) {
  for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) for (let row = 0; row < board.length; row++) for (let col = 0; col < board.length; col++) {
    const stones = [];
    for (let at = { row, col }; board[row][col] && board[at.row]?.[at.col] === board[row][col]; at = { row: at.row + down, col: at.col + right }) stones.push(at);
    if (stones.length >= 5) return stones;
  }
  return null;
}

game("skill-gomoku", {
  draw, unscored: true,
  // A cell as the board has it.
  said: (name, value, { row }) => name === "col" ? String.fromCharCode(65 + value) + (row + 1) : name === "row" ? "" : undefined,
  style: `
.stones .of0 { --seat: var(--black); } .stones .of1 { --seat: var(--white); } .stones .side { border-color: var(--line); } .stones .side::before { border: 1px solid var(--soft); }
.five { stroke: var(--bad); stroke-width: .18; stroke-linecap: round; opacity: .85; }
.seal { fill: none; stroke: #e11d48; stroke-width: .09; stroke-dasharray: .16 .1; }
.quiet { fill: #2563eb; opacity: .28; } .quiet.of2 { fill: #db2777; }
`,
});
