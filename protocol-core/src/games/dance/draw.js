const THROWS = { rock: "✊", paper: "✋", scissors: "✌️" };

function draw(seats, step) {
  const { map: { width, height }, agents } = step.view.publicState;
  const cells = [];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    cells.push(shape("rect", { x, y, width: 1, height: 1, class: (x + y) % 2 ? "floor odd" : "floor" }));
  }
  const throwOf = agent => THROWS[agent.lastPlan?.commands?.find(command => command.action)?.action] || "";
  const dancers = agents.filter(agent => !agent.eliminated).map(agent => coloured(shape("g", { class: "own" },
    shape("circle", { cx: agent.x + .5, cy: agent.y + .5, r: .8, class: "dancer" }),
    shape("text", { x: agent.x + .5, y: agent.y + .55, class: "dancing" }, agent.stunned ? "💫" : throwOf(agent))), agent.agentId));
  const of = seat => agents.find(agent => agent.agentId === seat.id) || {};
  const words = seat => [of(seat).eliminated && "is out", of(seat).motto && `“${of(seat).motto}”`];
  const told = "Dance floor. " + agents.map(agent => `${agent.agentName} ${agent.eliminated ? "is out" : `is at ${agent.x}, ${agent.y}`}`).join(", ");
  const floor = picture(width, height, told, ...cells, ...dancers);
  // Those at the edge lean over it.
  floor.setAttribute("viewBox", `-.4 -.4 ${width + .8} ${height + .8}`);
  return make("div", "game", floor, sides(seats, step, "point", words, seat => of(seat).score), key([], "Two side by side duel: the winner gets a point, the loser is out. 💫 stumbled, and loses to any throw."));
}

game("dance-battle", {
  draw,
  // Beats come in order, and what kind they are is seen.
  said: name => /^(beatIndex|kind)$/.test(name) ? "" : undefined,
  style: `
.dancer { fill: var(--seat); }
.dancing { font-size: 1px; text-anchor: middle; dominant-baseline: central; }
`,
});
