function draw(seats, step) {
  const { history = [], scores } = step.view.extra;
  const tops = Math.max(...history.flatMap(({ allocations }) => Object.values(allocations).flat()));
  const rounds = history.map(({ round, allocations, winner }) => ({ title: "Round " + round, values: seats.map(seat => allocations[seat.id]), winner, tops }));
  return make("div", "game", bouts(seats, rounds), sides(seats, step, "round", undefined, seat => scores[seat.id]), key([], "10 soldiers on 5 battlefields; who takes 3 of them wins the round."));
}

function steps(page) {
  const history = page.view?.extra?.history || [];
  return history.map((_, at) => {
    const rounds = history.slice(0, at + 1), scores = {};
    for (const { id } of page.seats) scores[id] = rounds.filter(round => round.winner === id).length;
    return { turn: at + 1, view: { extra: { history: rounds, scores } } };
  });
}

game("blotto", { draw, steps });
