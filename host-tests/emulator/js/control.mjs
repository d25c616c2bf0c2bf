// The emulator as a process. Its one argument is JSON: { elf, flash, unique_id, seed, link, paced }. On its standard input it
// takes commands, a line of JSON each, `{"id": 1, "do": "cable", "up": false}`, and answers each with `{"answer": 1, ...}`.
// What happens on the board is told on standard output, a line each, `{"event": "led", "at": 120000, "on": true}`, with the
// time in nanoseconds since the first power-on. It ends with its standard input.
//
// Paced, the board's clock follows the wall's: it sleeps while the board sleeps. When the board has more to do than this
// computer can, its clock lags, and never makes up for more than CATCH_UP. Unpaced, time passes only by the command `run`.

import readline from 'node:readline';
import { Board } from './board.mjs';
import { Elf } from './elf.mjs';
import { Link } from './link.mjs';

const CATCH_UP = 50e6;
/** How far the board may be ahead of the wall clock, so that short sleeps (a transfer over SPI) cost no timer of ours. */
const LEAD = 1e6;
/** After this much work in one go, frames and commands get their turn. */
const TURN = 4e6;

const options = JSON.parse(process.argv[2]);
const print = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const wall = () => Number(process.hrtime.bigint());

const board = new Board({
  elf: new Elf(options.elf),
  flashFile: options.flash,
  uniqueId: Buffer.from(options.unique_id, 'hex'),
  seed: options.seed,
  onEvent: print,
  onFrame: (frame) => {
    if (!link.send(frame) || options.link) return;
    print({ event: 'frame', at: Math.round(board.nanos), bytes: Buffer.from(frame).toString('hex') });
  },
});
const link = new Link((frame) => board.receive(frame));
// Some of the package's complaints go past its logger.
console.warn = (...words) => {
  board.invalid++;
  print({ event: 'invalid', at: Math.round(board.nanos), what: words.join(' '), pc: '' });
};

/** The wall's clock when the board's was at zero; moves on when the board lags. */
let zero = wall();
let timer = null;
let turn = null;

function pace() {
  clearTimeout(timer);
  timer = turn = null;
  const begun = wall();
  let now = begun;
  do {
    board.run(Math.min(board.nanos + 1e6, now - zero + LEAD));
    now = wall();
  } while (board.nanos < now - zero && now - begun < TURN);
  const lag = now - zero - board.nanos;
  if (lag > CATCH_UP) zero += lag - CATCH_UP;
  const sleep = board.asleepUntil - (now - zero) - LEAD;
  if (board.asleepUntil <= board.nanos || sleep <= 0) turn = lag < 0 ? void wait(1) : setImmediate(pace);
  else wait(Math.min(1000, Math.ceil(sleep / 1e6)));
}

function wait(milliseconds) {
  timer = setTimeout(pace, milliseconds);
}

/** Something happened that the board may wait for. */
function wake() {
  if (!options.paced || turn) return;
  pace();
}

const COMMANDS = {
  cable({ up }) {
    link.up = board.ethernet.linkUp = up;
  },
  loss(loss) {
    link.setLoss(loss);
  },
  power({ on }) {
    if (on) board.powerOn();
    else board.powerOff();
  },
  cut({ cycle }) {
    board.cutAt(cycle);
  },
  cut_in({ operation }) {
    board.cutIn(operation);
  },
  frame({ bytes }) {
    link.receive(Buffer.from(bytes, 'hex'));
  },
  run({ nanos }) {
    board.run(board.nanos + nanos);
  },
  statistics() {
    const { user, system } = process.cpuUsage();
    return { ...board.statistics, lost_frames: link.statistics.lost, worked: (user + system) * 1e3 };
  },
};

readline
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, do: verb, ...more } = JSON.parse(line);
    print({ answer: id, ...COMMANDS[verb](more) });
    wake();
  })
  .on('close', () => process.exit(0));

if (options.link) {
  link.connect(options.link, (why) => {
    process.stderr.write(`emulator: ${why}\n`);
    process.exit(3);
  });
  const { onFrame } = link;
  link.onFrame = (frame) => {
    if (options.paced) board.run(Math.min(wall() - zero, board.asleepUntil));
    onFrame(frame);
    wake();
  };
}
board.powerOn();
if (options.paced) pace();
