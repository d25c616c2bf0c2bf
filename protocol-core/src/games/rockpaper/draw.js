const THROWS = { rock: "✊", paper: "✋", scissors: "✌️" };
const BEATS = { rock: "scissors", paper: "rock", scissors: "paper" };

function draw(seats, step) {
  const { history = [], scores, rounds_to_win: wins } = step.view;
  const won = throws => seats.find((seat, at) => BEATS[throws[seat.id]] === throws[seats[1 - at]?.id]);
  const thrown = (throws, seat) => coloured(make("span", "own thrown", THROWS[throws[seat.id]] || "–"), seat.id);
  const rounds = history.map((throws, at) => coloured(make("div", won(throws) ? "bout own" : "bout", "Round " + (at + 1),
    ...seats.map(seat => thrown(throws, seat))), won(throws)?.id));
  return make("div", "game", make("div", "rounds", ...rounds), sides(seats, step, "round", undefined, seat => scores[seat.id]),
    key([], `Rock beats scissors, scissors beat paper, paper beats rock. ${wins} rounds win.`));
}

function steps(page) {
  const { history = [], ...rest } = page.view || {};
  return history.map((_, at) => {
    const past = history.slice(0, at + 1), [a, b] = page.seats.map(seat => seat.id), scores = { [a]: 0, [b]: 0 };
    for (const throws of past) for (const [one, other] of [[a, b], [b, a]]) if (BEATS[throws[one]] === throws[other]) scores[one]++;
    return { turn: at + 1, view: { ...rest, history: past, scores } };
  });
}

game("rockpaper", {
  draw, steps,
  style: `
.bout > .thrown { font-size: 2.2em; line-height: 1.2; text-align: center; border-inline-start-width: .12em; }
`,
});
