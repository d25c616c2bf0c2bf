// Drawn, because not every computer has a hand among its letters.
const THROWS = {
  rock: "M3 16 6 7l7-4 7 5 1 8-5 5H8z",
  paper: "M5 2h10l4 4v16H5zM15 2v4h4M8 10h8M8 14h8M8 18h5",
  scissors: "M7 15 17 2M17 15 7 2M5 16a3 3 0 1 0 .1 0zM19 16a3 3 0 1 0 .1 0z",
};
const BEATS = { rock: "scissors", paper: "rock", scissors: "paper" };

const thrown = (name, id) => coloured(shape("svg", { viewBox: "0 0 24 24", role: "img", "aria-label": name || "nothing", class: "own thrown" }, shape("path", { d: THROWS[name] || "M7 12h10" })), id);

function draw(seats, step) {
  const { history = [], scores, rounds_to_win: wins } = step.view, last = history.at(-1);
  const won = throws => seats.find((seat, at) => BEATS[throws[seat.id]] === throws[seats[1 - at]?.id]);
  const rounds = history.map((throws, at) => coloured(make("div", won(throws) ? "bout own" : "bout", "Round " + (at + 1), ...seats.map(seat => thrown(throws[seat.id], seat.id))), won(throws)?.id));
  // The round that was thrown last, for the back row.
  const large = last ? [make("div", "throws", ...seats.flatMap((seat, at) => [...at ? [won(last) ? "–" : "="] : [], make("div", won(last) === seat ? "won" : "", thrown(last[seat.id], seat.id), make("span", "", last[seat.id] || "nothing"))]))] : [];
  return make("div", "game", ...large, sides(seats, { ...step, actions: {} }, "round", undefined, seat => scores[seat.id]), make("div", "rounds", ...rounds),
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
.thrown { fill: none; stroke: var(--seat); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.throws { display: flex; gap: 2.5rem; justify-content: center; align-items: center; font-size: 1.5em; } .throws > div { display: grid; justify-items: center; padding: .3rem 1rem; border-radius: 1rem; } .throws > .won { background: var(--tint); }
.throws .thrown { width: clamp(5rem, 18cqi, 10rem); } .bout > .thrown { height: 2.6rem; width: auto; margin: auto; }
`,
});
