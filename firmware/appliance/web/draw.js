// What can be drawn: the games, as a spectator sees them, and the points over the rounds. Nothing here asks the box for
// anything. Names and words come from strangers, so every text goes in as textContent, never as HTML.
//
// A game is drawn from one step of a match: {turn, view, actions, scores, result}. `view` is what the box shows of the game
// in /api/matches/R1M1.json, `actions` the last turn in words by player, `result` how the match ended. Any may be missing.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (tag === "bdi") element.dir = "auto";
  element.append(...children.filter(child => child !== undefined && child !== null));
  return element;
}

export function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A picture with words for those who do not see it.
function picture(width, height, words, ...children) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, ...children);
}

// Far apart on the colour wheel for numbers that are close.
export const hue = id => Number(String(id).replace(/\D/g, "")) * 137.5 % 360;

// A name, a score and lines of words for every seat.
function sides(seats, step, words = () => "", score = seat => (step.scores || {})[seat.id]) {
  return make("div", "sides", ...seats.map((seat, at) => make("div", "side seat" + at, make("bdi", "", seat.name), make("b", "", score(seat) ?? ""),
    ...[words(seat, at), (step.actions || {})[seat.id]].flat().filter(Boolean).map(line => make("p", "", make("bdi", "", line))))));
}

// What is to be known of a game to follow it: signs of one cell that stand on its board, each with words, and a sentence.
function key(signs, ...said) {
  return make("p", "key", ...signs.map(([sign, words]) => make("span", "", shape("svg", { viewBox: "0 0 1 1", "aria-hidden": true }, sign), words)), ...said);
}

function gomoku(seats, step) {
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
  return make("div", "game stones", wood, sides(seats, step, (_, seat) => `${["Black", "White"][seat]}, energy ${energy?.[seat] ?? 0}`, () => ""),
    key([[last(here, .4), "last stone"], [seal(here), "sealed: stays where it is"], [quiet({ ...here, owner: 1 }), "closed to White"], [quiet({ ...here, owner: 2 }), "closed to Black"]], "Five in a row win. Energy buys skills."));
}

// Grass, bush, stone, gold, berries, water, mountain, station.
const GROUND = ["#a9c77e", "#5f9150", "#9a9aa6", "#f0b429", "#d6487b", "#5b9bd5", "#6b6259", "#ffffff"];
const LIES = [[3, "gold, worth 5"], [4, "berries (food), 3"], [2, "stone, 2"], [1, "bush (wood), 1"], [5, "water"], [6, "mountain"], [7, "where a drone began"]];

function rush(seats, step) {
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
    pen.fillStyle = style.getPropertyValue("--seat" + seats.indexOf(seat));
    pen.fill();
    pen.lineWidth = 3;
    pen.strokeStyle = "#fff";
    pen.stroke();
  });
  const has = seat => Object.entries(playerResources[seat.id] || {}).map(([what, count]) => `${what} ${count}`).join(" · ");
  const said = seat => playerThoughts[seat.id] && `“${playerThoughts[seat.id]}”`;
  return make("div", "game", canvas, sides(seats, step, seat => [has(seat), said(seat)], seat => scores[seat.id]),
    key(LIES.map(([ground, words]) => [shape("rect", { width: 1, height: 1, fill: GROUND[ground], class: "ground" }), words]), "A drone sees 35 cells far; here you see all."));
}

const THROWS = { rock: "✊", paper: "✋", scissors: "✌️" };

function dance(seats, step) {
  const { map: { width, height }, agents } = step.view.publicState;
  const cells = [];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    cells.push(shape("rect", { x, y, width: 1, height: 1, class: (x + y) % 2 ? "floor odd" : "floor" }));
  }
  const throwOf = agent => THROWS[agent.lastPlan?.commands?.find(command => command.action)?.action] || "";
  const dancers = agents.filter(agent => !agent.eliminated).map(agent => shape("g", { class: "seat" + seats.findIndex(seat => seat.id === agent.agentId) },
    shape("circle", { cx: agent.x + .5, cy: agent.y + .5, r: .8, class: "dancer" }),
    shape("text", { x: agent.x + .5, y: agent.y + .55, class: "dancing" }, agent.stunned ? "💫" : throwOf(agent))));
  const of = seat => agents.find(agent => agent.agentId === seat.id) || {};
  const words = seat => [of(seat).eliminated && "is out", of(seat).motto && `“${of(seat).motto}”`];
  const told = "Dance floor. " + agents.map(agent => `${agent.agentName} ${agent.eliminated ? "is out" : `is at ${agent.x}, ${agent.y}`}`).join(", ");
  const floor = picture(width, height, told, ...cells, ...dancers);
  // Those at the edge lean over it.
  floor.setAttribute("viewBox", `-.4 -.4 ${width + .8} ${height + .8}`);
  return make("div", "game", floor, sides(seats, step, words, seat => of(seat).score), key([], "Two side by side duel: the winner gets a point, the loser is out. 💫 stumbled, and loses to any throw."));
}

// A small picture for each round: bars of the first seat upwards, of the second downwards. Several where there are battlefields.
function bouts(seats, rounds) {
  return make("div", "rounds", ...rounds.map(({ title, values, names = values, winner, tops }) => {
    const WIDE = 60, HALF = 34, fields = values[0].length, wide = WIDE / fields;
    const bar = (value, other, seat, field) => {
      const long = Math.max(1, value / tops * (HALF - 11)), x = field * wide + wide * .18, y = seat ? HALF : HALF - long;
      return shape("g", { class: "seat" + seat },
        shape("rect", { x, y, width: wide * .64, height: long, rx: 1.5, class: value > other ? "bar" : "bar lost" }),
        shape("text", { x: x + wide * .32, y: seat ? y + long + 9 : y - 2 }, names[seat][field]));
    };
    const bars = values[0].flatMap((value, field) => [bar(value, values[1][field], 0, field), bar(values[1][field], value, 1, field)]);
    const won = seats.findIndex(seat => seat.id === winner);
    const words = seats.map((seat, at) => `${seat.name} ${names[at].join(" ")}`).join(", ");
    return make("div", won < 0 ? "bout" : "bout seat" + won, title, picture(WIDE, HALF * 2, `${title}: ${words}`, ...bars));
  }));
}

function blotto(seats, step) {
  const { history = [], scores } = step.view.extra;
  const tops = Math.max(...history.flatMap(({ allocations }) => Object.values(allocations).flat()));
  const rounds = history.map(({ round, allocations, winner }) => ({ title: "Round " + round, values: seats.map(seat => allocations[seat.id]), winner, tops }));
  return make("div", "game", bouts(seats, rounds), sides(seats, step, undefined, seat => scores[seat.id]), key([], "10 soldiers on 5 battlefields; who takes 3 of them wins the round."));
}

// Echo shows no history; the page remembers the rounds it has seen.
function echo(seats, step) {
  const { scores } = step.view?.extra || step;
  const rounds = (step.rounds || []).map(({ round, numbers, winner }, _, all) => {
    const before = all.find(one => one.round === round - 1)?.numbers || {}, again = seat => numbers[seat.id] === before[seat.id];
    const values = seats.map(seat => [again(seat) ? 0 : numbers[seat.id]]), names = seats.map(seat => [numbers[seat.id] + (again(seat) ? " again" : "")]);
    return { title: "Round " + round, values, names, winner, tops: 10 };
  });
  return make("div", "game", bouts(seats, rounds), sides(seats, step, undefined, seat => scores?.[seat.id]), key([], "The higher number wins the round; one that is played again counts as 0."));
}

const right = (choice, number) => choice === (number % 2 ? "odd" : "even");

function evenOdd(seats, step) {
  const { drawn_number: number, choices = {} } = step.result || {};
  const known = Number.isInteger(number);
  const choice = (seat, at) => make("div", "choice seat" + at, make("bdi", "", seat.name), make("b", "", known ? choices[seat.id] || "nothing" : "?"),
    make("span", "soft", known ? right(choices[seat.id], number) ? "✓ right" : "✗ wrong" : ""));
  const waiting = (step.view?.choices_in ?? 0) + " of 2 chose";
  const drawn = make("div", "drawn", make("b", "", known ? number : "?"), known ? number % 2 ? "odd" : "even" : waiting);
  return make("div", "game", make("div", "draw", choice(seats[0], 0), drawn, choice(seats[1], 1)));
}

function evenOdd10(seats, step) {
  const turns = step.turns || [];
  const line = (turn, seat, at) => make("span", "seat" + at, make("bdi", "", (right(turn[seat.id], turn.number) ? "✓ " : "✗ ") + (turn[seat.id] || "nothing")));
  return make("div", "game", make("div", "rounds", ...turns.map(turn => {
    const won = seats.findIndex(seat => seat.id === turn.winner);
    return make("div", won < 0 ? "bout" : "bout seat" + won, "Turn " + turn.turn, make("b", "", turn.number), ...seats.map((seat, at) => line(turn, seat, at)));
  })), sides(seats, step, undefined, seat => turns.filter(turn => right(turn[seat.id], turn.number)).length));
}

const GAMES = { "even_odd": evenOdd, "even_odd_10": evenOdd10, echo, blotto, "skill-gomoku": gomoku, "resource-rush": rush, "dance-battle": dance };

// The game at one step. Where there is nothing to draw: who plays, and what is known in words.
export function draw(game, seats, step) {
  try {
    return GAMES[game](seats, step);
  } catch {
    return make("div", "game", sides(seats, step));
  }
}

// The steps that a result or a view tells of by itself, without anybody having watched.
export function told(game, page) {
  const moves = page.game_result?.game_summary?.moves || page.view?.previous_moves;
  if (game === "even_odd_10" && moves?.length) {
    return moves.map((_, at) => ({ turn: at + 1, turns: moves.slice(0, at + 1) }));
  }
  const history = page.view?.extra?.history;
  if (game === "blotto" && history?.length) {
    return history.map((_, at) => {
      const rounds = history.slice(0, at + 1), scores = {};
      for (const { id } of page.seats) scores[id] = rounds.filter(round => round.winner === id).length;
      return { turn: at + 1, view: { extra: { history: rounds, scores } } };
    });
  }
  return [];
}

// Points over rounds: a line for each player, `lines` being [{id, name, points: [after round 1, …]}], best first.
export function race(lines, rounds, wide) {
  const WIDE = Math.min(820, Math.max(380, wide)), HIGH = Math.max(300, WIDE / 2), LEFT = 34, RIGHT = 180, TOP = 14, LOW = 34;
  const most = Math.max(1, ...lines.map(line => line.points.at(-1) || 0)), played = Math.max(0, ...lines.map(line => line.points.length));
  const x = round => LEFT + (WIDE - LEFT - RIGHT) * round / Math.max(1, rounds);
  const y = points => HIGH - LOW - (HIGH - TOP - LOW) * points / most;
  const marks = [];
  const step = Math.max(1, Math.ceil(most / 5));
  for (let points = 0; points <= most; points += step) {
    marks.push(shape("path", { d: `M${LEFT} ${y(points)}H${WIDE - RIGHT}`, class: "grid" }), shape("text", { x: LEFT - 8, y: y(points) + 4, "text-anchor": "end" }, points));
  }
  const every = Math.ceil(rounds * 30 / (WIDE - LEFT - RIGHT));
  for (let round = every; round <= rounds; round += every) marks.push(shape("text", { x: x(round), y: HIGH - 8, "text-anchor": "middle" }, round));
  const BEST = 8, GAP = 23, labels = [];
  let lowest = -GAP;
  lines.slice(0, BEST).forEach(line => {
    lowest = Math.max(lowest + GAP, y(line.points.at(-1) || 0) + 4);
    labels.push([line, lowest]);
  });
  // Those that would fall off the edge move up, and push those above them.
  for (let at = labels.length - 1, edge = HIGH - LOW + 8; at >= 0; at--, edge -= GAP) labels[at][1] = Math.min(labels[at][1], edge);
  const path = line => line.points.map((points, at) => `L${x(at + 1)} ${y(points)}`).join("");
  const colour = (element, id) => { element.style.setProperty("--hue", hue(id)); return element; };
  const drawn = lines.map((line, at) => colour(shape("path", { d: `M${x(0)} ${y(0)}${path(line)}`, class: at < BEST ? "" : "faint" }), line.id)).reverse();
  const short = name => [...name].length > 14 ? [...name].slice(0, 13).join("") + "…" : name;
  const written = labels.map(([line, at]) => colour(shape("text", { x: x(played) + 10, y: at, class: "label", direction: "ltr" },
    "\u2068" + short(line.name) + "\u2069 " + (line.points.at(-1) || 0)), line.id));
  return picture(WIDE, HIGH, "Points after each round. " + lines.slice(0, BEST).map(line => `${line.name}: ${line.points.at(-1) || 0}`).join(", "), ...marks, ...drawn, ...written);
}

// SHA-256, as FIPS 180-4 has it. A browser lends its own only to pages from https, which a box in a classroom is not.
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every(prime => n % prime)) primes.push(n);
const fraction = root => (root - Math.floor(root)) * 2 ** 32 | 0;
const ROUNDS = primes.map(prime => fraction(Math.cbrt(prime))), START = primes.slice(0, 8).map(prime => fraction(Math.sqrt(prime)));

export function sha256(bytes) {
  const blocks = new DataView(new ArrayBuffer((bytes.length + 72 >> 6) * 64));
  bytes.forEach((byte, at) => blocks.setUint8(at, byte));
  blocks.setUint8(bytes.length, 0x80);
  blocks.setUint32(blocks.byteLength - 4, bytes.length * 8);
  const turn = (word, by) => word >>> by | word << 32 - by, hash = [...START], words = new Int32Array(64);
  for (let block = 0; block < blocks.byteLength; block += 64) {
    for (let at = 0; at < 64; at++) {
      const early = words[at - 15], late = words[at - 2];
      words[at] = at < 16 ? blocks.getInt32(block + at * 4) : words[at - 16] + words[at - 7] +
        (turn(early, 7) ^ turn(early, 18) ^ early >>> 3) + (turn(late, 17) ^ turn(late, 19) ^ late >>> 10);
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let at = 0; at < 64; at++) {
      const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + ROUNDS[at] + words[at] | 0;
      const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
      [a, b, c, d, e, f, g, h] = [first + second | 0, a, b, c, d + first | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => hash[at] = hash[at] + word | 0);
  }
  return hash.flatMap(word => [word >>> 24, word >>> 16 & 255, word >>> 8 & 255, word & 255]);
}

export const hex = bytes => bytes.map(byte => byte.toString(16).padStart(2, "0")).join("");
export const unhex = text => text.match(/../g).map(pair => parseInt(pair, 16));

// The first `count` draws below `n` from a match's seed, as the manual says.
export function draws(seed, n, count) {
  const values = [], whole = n * Math.floor(2 ** 32 / n);
  for (let at = 0; values.length < count; at++) {
    const [a, b, c, d] = sha256([...seed, at >>> 24, at >>> 16 & 255, at >>> 8 & 255, at & 255]);
    const x = ((a * 256 + b) * 256 + c) * 256 + d;
    if (x < whole) values.push(x % n);
  }
  return values;
}
