const moves = ({ game_result: result, view }) => result?.game_summary?.moves || view?.previous_moves || [];

function draw(seats, step) {
  const turns = step.turns || moves({ ...step, game_result: step.result });
  const sign = (turn, seat) => turn[seat.id] ? right(turn[seat.id], turn.number) ? "✓ " : "✗ " : "";
  const line = (turn, seat) => coloured(make("span", "own", make("bdi", "", sign(turn, seat) + (turn[seat.id] || "–"))), seat.id);
  return make("div", "game", make("div", "rounds", ...turns.map(turn => {
    const won = seats.find(seat => seat.id === turn.winner);
    return coloured(make("div", won ? "bout own" : "bout", "Turn " + turn.turn, make("b", "", turn.number), ...seats.map(seat => line(turn, seat))), won?.id);
  })), sides(seats, step, "right guess|right guesses", undefined, seat => turns.filter(turn => right(turn[seat.id], turn.number)).length));
}

const steps = page => moves(page).map((_, at, all) => ({ turn: at + 1, turns: all.slice(0, at + 1) }));

function proof({ game_result: result }, seed) {
  const moves = result?.game_summary?.moves;
  if (!moves) return [];
  const drawn = draws(seed, 100, moves.length);
  return [[moves.every((move, at) => move.number === drawn[at]), "the seed draws ", drawn.join(" ")]];
}

game("even_odd_10", { draw, steps, proof });
