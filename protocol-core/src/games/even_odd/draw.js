function draw(seats, step) {
  const { drawn_number: number, choices = {} } = step.result || {};
  const known = Number.isInteger(number);
  const judged = chosen => chosen ? right(chosen, number) ? "✓ right" : "✗ wrong" : "did not choose";
  const choice = (seat, at) => coloured(make("div", "choice own", make("bdi", "", seat.name), make("b", "", known ? choices[seat.id] || "–" : "?"),
    make("span", "soft", known ? judged(choices[seat.id]) : "")), seat.id);
  const waiting = (step.view?.choices_in ?? 0) + " of 2 chose";
  const drawn = make("div", "drawn", make("b", "", known ? number : "?"), known ? number % 2 ? "odd" : "even" : waiting);
  return make("div", "game", make("div", "draw", choice(seats[0], 0), drawn, choice(seats[1], 1)));
}

function proof({ game_result: result }, seed) {
  if (!Number.isInteger(result?.drawn_number)) return [];
  const drawn = 1 + draws(seed, 10, 1)[0];
  return [[drawn === result.drawn_number, "the seed draws ", drawn, ", the box said ", result.drawn_number]];
}

game("even_odd", {
  draw, proof, unscored: true, single: true,
  style: `
.draw { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr); gap: 1rem; align-items: center; width: 100%; }
.drawn { min-width: 6.2em; height: 6.2em; padding: 0 .6em; border-radius: 1.3rem; background: var(--accent); color: var(--on-accent); display: grid; place-content: center; text-align: center; font-size: 1em; line-height: 1.1; }
.drawn b { font-size: 2.7em; font-variant-numeric: tabular-nums; }
.choice { display: grid; justify-items: center; gap: .1rem; text-align: center; font-size: 1.05em; }
.choice bdi { max-width: 100%; }
.choice { border-top: 3px solid var(--seat); padding-top: .4rem; }
.choice b { font-size: 1.25em; }
`,
});
