// What can be drawn, and what all drawings share: names, colours, boards, bars. How a game is drawn stands beside its rules,
// in protocol-core/src/games/<game>/draw.js; build.rs puts these behind this file, each in a block of its own, so that all that
// stands here can be used there. Nothing here asks the box for anything. Names and words come from strangers, so every text
// goes in as textContent, never as HTML.

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

// A playing card: its rank, and its suit if that matters; from behind if nobody may see it.
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };

function playingCard(rank, suit = "", wide = 35) {
  const said = rank?.replace("T", "10"), name = rank ? said + (SUITS[suit] || "") : "hidden card";
  // A 10 is hardly wider than a queen.
  const text = (y, size, words) => shape("text", { x: 25, y, "font-size": size, ...words.length > 1 && { textLength: wide, lengthAdjust: "spacingAndGlyphs" } }, words);
  const print = !rank ? [shape("rect", { x: 6, y: 6, width: 38, height: 58, rx: 3, class: "behind" })]
    : suit ? [text(22, 31, said), text(53, 31, SUITS[suit])] : [text(36, 34, said)];
  return shape("svg", { viewBox: "0 0 50 70", role: "img", "aria-label": name, class: "face" + (/[dh]/.test(suit) ? " red" : "") },
    shape("rect", { x: 1, y: 1, width: 48, height: 68, rx: 6, class: "paper" }), ...print);
}

// A table with what lies in its middle, and a place for each player: what it has, what it did last, and whether it is asked.
function felt(seats, step, middle, places) {
  const place = ({ id, name, note, things, isAsked, isOut }) => coloured(make("div", "place own" + (isAsked ? " asked" : "") + (isOut ? " gone" : ""),
    make("bdi", "", seats.find(seat => seat.id === id)?.name ?? name), ...things, make("p", "", note || (isAsked ? "to move" : (step.actions || {})[id]) || "\u00a0")), id);
  const around = make("div", "places", ...places.map(place));
  // Two rows where there are many.
  around.style.setProperty("--across", places.length > 4 ? 3 : places.length);
  return make("div", "felt", make("div", "middle", ...middle), around);
}

// Whether a choice of even or odd names the parity of a number.
const right = (choice, number) => choice === (number % 2 ? "odd" : "even");

// A debate as a stage: what it is about, the last speech so that the back row can read it, those before it, and the votes. What was said
// may run from right to left, line by line.
function words(said, className) {
  const late = said.late || !said.text;
  return make("p", className + (late ? " soft" : ""), late ? "says nothing" : said.text, ...said.truncated ? [make("small", "", " … (cut)")] : []);
}

// How the votes stand: a bar in two colours with the numbers on it, and while the vote is open a button for each, of which one can be
// pressed and pressed anew.
function ballot(seats, step) {
  const tally = step.over && (step.view || step.result)?.votes || step.scores || {}, votes = seats.map(seat => tally[seat.id] || 0), all = votes[0] + votes[1], { cast, yours, crowd, open } = step.ballot || {};
  const part = (seat, at) => {
    const piece = coloured(make("span", "own", votes[at] || !all ? String(votes[at]) : ""), seat.id);
    piece.style.flexGrow = all ? votes[at] : 1;
    return piece;
  };
  const bar = make("div", "votes", ...seats.map(part));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", "Votes: " + seats.map((seat, at) => seat.name + " " + votes[at]).join(", "));
  const choice = seat => {
    const button = coloured(make("button", "own choice", make("bdi", "", seat.name), make("small", "", yours === seat.id ? "your vote ✓" : "vote")), seat.id);
    button.type = "button";
    button.setAttribute("aria-pressed", yours === seat.id);
    button.onclick = () => cast(seat.id);
    return button;
  };
  const said = open ? yours ? "You may change your vote until it closes." : "Who has convinced you? One tap." : step.over ? count(all, "vote") : "";
  return make("div", "ballot", bar, ...open && cast ? [make("div", "choices", ...seats.map(choice))] : [], make("p", "soft", said, ...crowd ? [make("b", "broke", ` ${crowd} votes come from one address.`)] : []));
}

const stage = {
  draw(seats, step) {
    const { topic, sides: of = {}, stage: at, to_speak, spoken, speeches: most } = step.view || {}, said = step.speeches || [], last = said.at(-1);
    const name = id => seats.find(seat => seat.id === id)?.name || id;
    const head = id => make("span", "who", make("b", "", make("bdi", "", name(id))), make("small", "", of[id] || ""));
    const speech = (one, className) => coloured(make("li", "own " + className, head(one.player_id), words(one, "words")), one.player_id);
    const now = at === "talk" && to_speak ? coloured(make("p", "own next", make("bdi", "", name(to_speak)), ` speaks next: ${spoken + 1} of ${most}`), to_speak) : "";
    const about = make("p", "topic", topic || step.topic || "A debate");
    return make("div", "debate", about, ...at === "talk" ? [] : [ballot(seats, step)], now,
      ...last ? [make("ol", "", speech(last, "latest"))] : [make("p", "soft", "Nobody has spoken yet.")],
      ...said.length > 1 ? [make("ol", "earlier", ...said.slice(0, -1).reverse().map(one => speech(one, "")))] : []);
  },
  // The speeches up to here: the page has them from the box.
  watch(step, page, before, moves) {
    const upto = moves ? moves.filter(one => one.player_id).length : undefined;
    step.speeches = (page.speeches || []).slice(0, upto);
    step.topic = page.topic;
  },
  said: (name, value) => name === "text" ? value || "says nothing" : name === "bytes" ? "…" : name === "truncated" ? "(cut)" : undefined,
  hasSpeeches: true, unscored: true,
};

// The games, by name, as each has told of itself:
//
//   draw(seats, step)   the game at one step of a match: {turn, view, actions, scores, result, over}. `view` is what the box shows
//                       of the game in /api/matches/R1M1.json, `actions` the last turn in words by player, `result` how the match
//                       ended. Any may be missing.
//
// and, where there is something to tell:
//
//   style               how its drawing looks, as CSS; colours that others share have names in page.css
//   steps(page)         the steps that a result or a view tells of by itself, without anybody having watched
//   watch(step, page, before, moves)   adds to a step what follows from the one before it, or from the moves, if they are known
//   needsMoves          whether it is drawn by its moves, once it is over
//   proof(page, seed)   what the seed decided, recomputed: [whether the box said the same, words …] for each line
//   said(name, value, move)   how a member of a move is said, "" if it is not; undefined for the value as it is
//   hides               what spectators do not see, for whoever chooses the game
//   unscored            whether its score says nothing before it is over
//   hasSpeeches         whether its moves are speeches, and an audience votes: `page.speeches` are those the box has, and `step.ballot` is
//                       how this page has voted: {open, yours, cast(id), crowd}
//   single              whether it has but one turn, and so no steps
const GAMES = {};

function game(name, told) {
  GAMES[name] = told;
  if (!told.style) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(told.style);
  document.adoptedStyleSheets.push(sheet);
}

// What a game has told; of one that has told nothing, nothing.
export const about = name => GAMES[name] || {};

// The game at one step. Where there is nothing to draw: who plays, and what is known in words.
export function draw(name, seats, step) {
  try {
    return GAMES[name].draw(seats, step);
  } catch {
    return make("div", "game", sides(seats, step));
  }
}

// A move in words.
export const spoken = (move, said) => move && typeof move === "object"
  ? Object.entries(move).map(([name, value]) => said?.(name, value, move) ?? spoken(value, said)).filter(Boolean).join(" ") : String(move);

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

// What a match's seed draws, as the manual says: each call has the next value below `n`.
export function chance(seed) {
  let next = 0;
  return n => {
    for (const whole = n * Math.floor(2 ** 32 / n);;) {
      const at = next++, [a, b, c, d] = sha256([...seed, at >>> 24, at >>> 16 & 255, at >>> 8 & 255, at & 255]);
      const x = ((a * 256 + b) * 256 + c) * 256 + d;
      if (x < whole) return x % n;
    }
  };
}

// The first `count` draws below `n`.
export function draws(seed, n, count) {
  const below = chance(seed);
  return Array.from({ length: count }, () => below(n));
}
