// The view shows no history; a page remembers the rounds it has seen.
function draw(seats, step) {
  const { scores } = step.view?.extra || step;
  const rounds = (step.rounds || []).filter(({ numbers }) => seats.every(seat => Number.isInteger(numbers[seat.id]))).map(({ round, numbers, winner }, _, all) => {
    const before = all.find(one => one.round === round - 1)?.numbers || {}, again = seat => numbers[seat.id] === before[seat.id];
    const values = seats.map(seat => [again(seat) ? 0 : numbers[seat.id]]), names = seats.map(seat => [numbers[seat.id] + (again(seat) ? " again" : "")]);
    return { title: "Round " + round, values, names, winner, tops: 10 };
  });
  return make("div", "game", bouts(seats, rounds), sides(seats, step, "round", undefined, seat => scores?.[seat.id]), key([], "The higher number wins the round; one that is played again counts as 0."));
}

// The rounds, whose winners the result has.
function told(page, moves) {
  const ids = page.seats.map(seat => seat.id), made = ids.map(id => moves.filter(one => one.player_id === id).map(one => one.move.number));
  const numbers = at => Object.fromEntries(ids.map((id, seat) => [id, made[seat][at]]));
  return made[0].slice(0, made[1].length).map((_, at) => ({ round: at + 1, numbers: numbers(at), winner: page.game_result?.round_winners?.[at] }));
}

// The view shows no numbers; they stand in the words for the last turn.
const played = action => action?.includes("🔟") ? 10 : Number(/\d/.exec(action || "")?.[0] ?? NaN);

function watch(step, page, before, moves) {
  step.rounds = moves ? told(page, moves) : before?.rounds || [];
  const round = (step.turn || 1) - 1;
  if (moves || !step.view?.extra || round < 1 || step.rounds.some(one => one.round === round)) return;
  const numbers = Object.fromEntries(Object.entries(step.actions).map(([id, action]) => [id, played(action)]));
  const winner = page.seats.find(({ id }) => (step.scores[id] || 0) > (before?.scores[id] || 0))?.id;
  step.rounds = [...step.rounds, { round, numbers, winner }];
}

game("echo", { draw, watch, needsMoves: true });
