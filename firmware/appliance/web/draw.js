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

// A player has one colour, wherever it is shown.
export function coloured(element, id) {
  if (id) element.style.setProperty("--hue", hue(id));
  return element;
}

// "point", or "guess|guesses".
function count(number, unit) {
  const [one, more = one + "s"] = unit.split("|");
  return number + " " + (number === 1 ? one : more);
}

// A name, a score with what it counts, and lines of words for every seat.
function sides(seats, step, unit = "point", words = () => "", score = seat => (step.scores || {})[seat.id]) {
  const counted = seat => unit && Number.isFinite(score(seat)) ? count(score(seat), unit) : "";
  return make("div", "sides", ...seats.map((seat, at) => coloured(make("div", "side of" + at, make("bdi", "", seat.name), make("b", "", counted(seat)),
    ...[words(seat, at), (step.actions || {})[seat.id]].flat().filter(Boolean).map(line => make("p", "", make("bdi", "", line)))), seat.id)));
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

const THROWS = { rock: "✊", paper: "✋", scissors: "✌️" };

function dance(seats, step) {
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

// A small picture for each round: bars of the first seat upwards, of the second downwards. Several where there are battlefields.
function bouts(seats, rounds) {
  return make("div", "rounds", ...rounds.map(({ title, values, names = values, winner, tops }) => {
    const WIDE = 60, HALF = 34, fields = values[0].length, wide = WIDE / fields;
    const bar = (value, other, seat, field) => {
      const long = Math.max(1, value / tops * (HALF - 11)), x = field * wide + wide * .18, y = seat ? HALF : HALF - long;
      return coloured(shape("g", { class: "own" },
        shape("rect", { x, y, width: wide * .64, height: long, rx: 1.5, class: value > other ? "bar" : "bar lost" }),
        shape("text", { x: x + wide * .32, y: seat ? y + long + 9 : y - 2 }, names[seat][field])), seats[seat].id);
    };
    const bars = values[0].flatMap((value, field) => [bar(value, values[1][field], 0, field), bar(values[1][field], value, 1, field)]);
    const won = seats.findIndex(seat => seat.id === winner);
    const words = seats.map((seat, at) => `${seat.name} ${names[at].join(" ")}`).join(", ");
    return coloured(make("div", won < 0 ? "bout" : "bout own", title, picture(WIDE, HALF * 2, `${title}: ${words}`, ...bars)), seats[won]?.id);
  }));
}

function blotto(seats, step) {
  const { history = [], scores } = step.view.extra;
  const tops = Math.max(...history.flatMap(({ allocations }) => Object.values(allocations).flat()));
  const rounds = history.map(({ round, allocations, winner }) => ({ title: "Round " + round, values: seats.map(seat => allocations[seat.id]), winner, tops }));
  return make("div", "game", bouts(seats, rounds), sides(seats, step, "round", undefined, seat => scores[seat.id]), key([], "10 soldiers on 5 battlefields; who takes 3 of them wins the round."));
}

// Echo shows no history; the page remembers the rounds it has seen.
function echo(seats, step) {
  const { scores } = step.view?.extra || step;
  const rounds = (step.rounds || []).filter(({ numbers }) => seats.every(seat => Number.isInteger(numbers[seat.id]))).map(({ round, numbers, winner }, _, all) => {
    const before = all.find(one => one.round === round - 1)?.numbers || {}, again = seat => numbers[seat.id] === before[seat.id];
    const values = seats.map(seat => [again(seat) ? 0 : numbers[seat.id]]), names = seats.map(seat => [numbers[seat.id] + (again(seat) ? " again" : "")]);
    return { title: "Round " + round, values, names, winner, tops: 10 };
  });
  return make("div", "game", bouts(seats, rounds), sides(seats, step, "round", undefined, seat => scores?.[seat.id]), key([], "The higher number wins the round; one that is played again counts as 0."));
}

const right = (choice, number) => choice === (number % 2 ? "odd" : "even");

function evenOdd(seats, step) {
  const { drawn_number: number, choices = {} } = step.result || {};
  const known = Number.isInteger(number);
  const judged = chosen => chosen ? right(chosen, number) ? "✓ right" : "✗ wrong" : "did not choose";
  const choice = (seat, at) => coloured(make("div", "choice own", make("bdi", "", seat.name), make("b", "", known ? choices[seat.id] || "–" : "?"),
    make("span", "soft", known ? judged(choices[seat.id]) : "")), seat.id);
  const waiting = (step.view?.choices_in ?? 0) + " of 2 chose";
  const drawn = make("div", "drawn", make("b", "", known ? number : "?"), known ? number % 2 ? "odd" : "even" : waiting);
  return make("div", "game", make("div", "draw", choice(seats[0], 0), drawn, choice(seats[1], 1)));
}

function evenOdd10(seats, step) {
  const turns = step.turns || [];
  const sign = (turn, seat) => turn[seat.id] ? right(turn[seat.id], turn.number) ? "✓ " : "✗ " : "";
  const line = (turn, seat) => coloured(make("span", "own", make("bdi", "", sign(turn, seat) + (turn[seat.id] || "–"))), seat.id);
  return make("div", "game", make("div", "rounds", ...turns.map(turn => {
    const won = seats.find(seat => seat.id === turn.winner);
    return coloured(make("div", won ? "bout own" : "bout", "Turn " + turn.turn, make("b", "", turn.number), ...seats.map(seat => line(turn, seat))), won?.id);
  })), sides(seats, step, "right guess|right guesses", undefined, seat => turns.filter(turn => right(turn[seat.id], turn.number)).length));
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
  const drawn = lines.map((line, at) => coloured(shape("path", { d: `M${x(0)} ${y(0)}${path(line)}`, class: at < BEST ? "" : "faint" }), line.id)).reverse();
  const short = name => [...name].length > 14 ? [...name].slice(0, 13).join("") + "…" : name;
  const written = labels.map(([line, at]) => coloured(shape("text", { x: x(played) + 10, y: at, class: "label", direction: "ltr" },
    "\u2068" + short(line.name) + "\u2069 · " + (line.points.at(-1) || 0)), line.id));
  return picture(WIDE, HIGH, "Points after each round. " + lines.slice(0, BEST).map(line => `${line.name}: ${line.points.at(-1) || 0}`).join(", "), ...marks, ...drawn, ...written);
}

/* ---- a QR code ---- */

// By version, level M: codewords of the whole code, error correction of a block, blocks. ISO/IEC 18004, table 9.
const CODES = [[26, 10, 1], [44, 16, 1], [70, 26, 1], [100, 18, 2], [134, 24, 2], [172, 16, 4]];
const MASKS = [(x, y) => (x + y) % 2, (x, y) => y % 2, x => x % 3, (x, y) => (x + y) % 3, (x, y) => ((y >> 1) + Math.floor(x / 3)) % 2,
  (x, y) => x * y % 2 + x * y % 3, (x, y) => (x * y % 2 + x * y % 3) % 2, (x, y) => ((x + y) % 2 + x * y % 3) % 2];
const POWERS = [1];
for (let at = 1; at < 255; at++) POWERS[at] = POWERS[at - 1] << 1 ^ (POWERS[at - 1] & 128 ? 0x11d : 0);
const times = (a, b) => a && b ? POWERS[(POWERS.indexOf(a) + POWERS.indexOf(b)) % 255] : 0;

// What is left of data times x^count after division by the generator of Reed and Solomon.
function correction(data, count) {
  let generator = [1];
  for (let at = 0; at < count; at++) generator = [...generator, 0].map((value, place) => value ^ times(generator[place - 1] || 0, POWERS[at]));
  const rest = [...data, ...Array(count).fill(0)];
  data.forEach((_, at) => { const lead = rest[at]; generator.forEach((value, place) => rest[at + place] ^= times(value, lead)); });
  return rest.slice(data.length);
}

// Five bits about the code, and ten by which they are found again.
function format(mask) {
  let rest = mask << 10;
  for (let at = 14; at >= 10; at--) if (rest >> at & 1) rest ^= 0x537 << at - 10;
  return (mask << 10 | rest) ^ 0x5412;
}

// The dark modules of a QR code that says a text, by row; none where it is too long.
export function qr(said) {
  const bytes = [...new TextEncoder().encode(said)], version = CODES.findIndex(([all, each, blocks]) => bytes.length + 2 <= all - each * blocks) + 1;
  if (!version) return [];
  const [all, each, blocks] = CODES[version - 1], room = all - each * blocks, size = 17 + 4 * version;
  // Bytes follow four bits of kind and eight of length, so that all are cut in halves.
  const halves = [4, bytes.length >> 4, bytes.length & 15, ...bytes.flatMap(byte => [byte >> 4, byte & 15]), 0], data = [];
  for (let at = 0; at < halves.length; at += 2) data.push(halves[at] << 4 | halves[at + 1]);
  for (let at = 0; data.length < room; at++) data.push(at % 2 ? 0x11 : 0xec);
  const parts = [], short = Math.floor(room / blocks);
  for (let at = 0, from = 0; at < blocks; at++) {
    const long = short + (at >= blocks - room % blocks ? 1 : 0);
    parts.push(data.slice(from, from += long));
  }
  const woven = lists => Array.from({ length: Math.max(...lists.map(list => list.length)) }, (_, at) => lists.flatMap(list => at < list.length ? [list[at]] : [])).flat();
  const words = [...woven(parts), ...woven(parts.map(part => correction(part, each)))];
  const bits = words.flatMap(word => [7, 6, 5, 4, 3, 2, 1, 0].map(at => word >> at & 1));

  const dark = Array.from({ length: size }, () => Array(size).fill(false)), fixed = dark.map(row => [...row]);
  const set = (x, y, on) => { if (x >= 0 && y >= 0 && x < size && y < size) [dark[y][x], fixed[y][x]] = [Boolean(on), true]; };
  const rings = (x, y, reach, light) => { for (let dy = -reach; dy <= reach; dy++) for (let dx = -reach; dx <= reach; dx++) set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy)))); };
  for (let at = 0; at < size; at++) { set(6, at, at % 2 === 0); set(at, 6, at % 2 === 0); }
  if (version > 1) rings(size - 7, size - 7, 2, [1]);
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) rings(x, y, 4, [2, 4]);
  // Level M is 00, so the five bits are those of the mask.
  const sign = mask => {
    const bit = at => format(mask) >> at & 1;
    for (let at = 0; at < 8; at++) { set(size - 1 - at, 8, bit(at)); set(8, at < 6 ? at : at + 1, bit(at)); }
    for (let at = 8; at < 15; at++) { set(8, size - 15 + at, bit(at)); set(at < 9 ? 15 - at : 14 - at, 8, bit(at)); }
    set(8, size - 8, true);
  };
  sign(0);
  let next = 0;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--;
    const up = (right + 1 & 2) === 0;
    for (let down = 0; down < size; down++) for (const x of [right, right - 1]) {
      const y = up ? size - 1 - down : down;
      if (!fixed[y][x]) dark[y][x] = Boolean(bits[next++]);
    }
  }
  const masked = MASKS.map((mask, number) => {
    sign(number);
    return dark.map((row, y) => row.map((on, x) => on !== (!fixed[y][x] && !mask(x, y))));
  });
  return masked.reduce((best, one) => trouble(one) < trouble(best) ? one : best);
}

// How hard a code is to read: runs, blocks, what looks like a corner, and much more of one colour.
function trouble(code) {
  let sum = 0;
  for (const rows of [code, code.map((_, x) => code.map(row => row[x]))]) for (const row of rows) {
    const text = row.map(Number).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) || []) sum += run.length - 2;
    for (const corner of ["10111010000", "00001011101"]) for (let at = -1; (at = text.indexOf(corner, at + 1)) >= 0;) sum += 40;
  }
  code.forEach((row, y) => row.forEach((on, x) => { if (y && x && code[y - 1][x] === on && row[x - 1] === on && code[y - 1][x - 1] === on) sum += 3; }));
  const share = code.flat().filter(Boolean).length / code.length ** 2;
  return sum + Math.floor(Math.abs(share * 20 - 10)) * 10;
}

// The same as a picture, with the quiet zone around it.
export function code(said) {
  const rows = qr(said), size = rows.length + 8;
  const path = rows.flatMap((row, y) => row.flatMap((on, x) => on ? [`M${x + 4} ${y + 4}h1v1h-1z`] : [])).join("");
  return picture(size, size, "QR code of " + said, shape("rect", { width: size, height: size, class: "paper" }), shape("path", { d: path, class: "print" }));
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
