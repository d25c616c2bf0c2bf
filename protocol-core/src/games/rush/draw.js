// Grass, bush, stone, gold, berries, water, mountain, station.
const GROUND = ["#a9c77e", "#5f9150", "#9a9aa6", "#f0b429", "#d6487b", "#5b9bd5", "#6b6259", "#ffffff"];
const LIES = [[3, "gold, worth 5"], [4, "berries (food), 3"], [2, "stone, 2"], [1, "bush (wood), 1"], [5, "water"], [6, "mountain"], [7, "where a drone began"]];

function draw(seats, step) {
  const { grid, playerPositions = {}, playerResources = {}, playerThoughts = {}, scores = {}, tick, maxTicks } = step.view.extra;
  const CELL = 6, canvas = make("canvas"), size = grid.length;
  canvas.width = canvas.height = size * CELL;
  canvas.setAttribute("role", "img");
  const where = seats.map(seat => [seat, playerPositions[seat.id]]).filter(([, spot]) => spot);
  canvas.setAttribute("aria-label", `Map of ${size} by ${size} cells, tick ${tick} of ${maxTicks}. ` + where.map(([seat, spot]) => `${seat.name} is at ${spot.x}, ${spot.y}.`).join(" "));
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  grid.forEach((row, y) => row.forEach((ground, x) => {
    // What nobody sees is fog.
    pen.fillStyle = GROUND[ground] || "#5b6068";
    pen.fillRect(x * CELL, y * CELL, CELL, CELL);
  }));
  where.forEach(([seat, spot]) => {
    pen.beginPath();
    pen.arc((spot.x + .5) * CELL, (spot.y + .5) * CELL, CELL * 2, 0, 7);
    pen.fillStyle = `oklch(${style.getPropertyValue("--light")} .17 ${hue(seat.id)})`;
    pen.fill();
    pen.lineWidth = 3;
    pen.strokeStyle = "#fff";
    pen.stroke();
  });
  const has = seat => Object.entries(playerResources[seat.id] || {}).map(([what, count]) => `${what} ${count}`).join(" · ");
  const said = seat => playerThoughts[seat.id] && `“${playerThoughts[seat.id]}”`;
  const fog = grid.some(row => row.includes(-1));
  return make("div", "game", canvas, sides(seats, step, "point", seat => [has(seat), said(seat)], seat => scores[seat.id]),
    key(LIES.map(([ground, words]) => [shape("rect", { width: 1, height: 1, fill: GROUND[ground], class: "ground" }), words]), "A drone sees 35 cells far; " + (fog ? "what neither sees is dark." : "here you see all.")));
}

game("resource-rush", {
  draw,
  hides: "Everybody sees what the two drones see together. The whole map is for whoever has the projector's link, below, and for all when the match is over.",
  style: `
.ground { stroke: var(--line); stroke-width: .15; }
`,
});
