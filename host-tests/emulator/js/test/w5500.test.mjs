// The Ethernet chip as a driver sees it over SPI.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { W5500 } from '../w5500.mjs';

const COMMON = 0;
const SOCKET = 1;
const TX = 2;
const RX = 3;
const MAC = [2, 0, 0, 1, 2, 3];
const MACRAW_FILTERED = 0x84;

/** A chip with a log of what it sends and of its INT pin, and a driver's two ways to it. */
function chip() {
  const sent = [];
  const levels = [];
  const eth = new W5500({ onFrame: (frame) => sent.push([...frame]), onInterrupt: (high) => levels.push(high) });
  const transfer = (head, data) => {
    eth.select(true);
    for (const byte of head) eth.exchange(byte);
    const answer = data.map((byte) => eth.exchange(byte));
    eth.select(false);
    return answer;
  };
  const write = (block, at, ...data) => transfer([at >> 8, at & 0xff, (block << 3) | 4], data);
  const read = (block, at, length) => transfer([at >> 8, at & 0xff, block << 3], new Array(length).fill(0));
  const word = (block, at) => read(block, at, 2).reduce((high, low) => (high << 8) | low);
  return { eth, sent, levels, write, read, word };
}

/** As above, set up as the driver does: 16 KB each way, frames for us and everybody, interrupt on reception. */
function opened(mode = MACRAW_FILTERED) {
  const it = chip();
  it.write(COMMON, 0x18, 1);
  it.write(SOCKET, 0x2c, 4);
  it.write(COMMON, 0x09, ...MAC);
  it.write(SOCKET, 0x1f, 16);
  it.write(SOCKET, 0x1e, 16);
  it.write(SOCKET, 0x00, mode);
  it.write(SOCKET, 0x01, 1);
  return it;
}

function frame(to, length = 60, fill = 7) {
  return Uint8Array.from([...to, ...new Array(length - 6).fill(fill)]);
}

/** Takes one frame out, as the driver does: clear the interrupt, read, move the pointer, RECV. */
function take({ write, read, word }) {
  write(SOCKET, 0x02, 4);
  const at = word(SOCKET, 0x28);
  const length = word(RX, at);
  const bytes = read(RX, at + 2, length - 2);
  const next = (at + length) & 0xffff;
  write(SOCKET, 0x28, next >> 8, next & 0xff);
  write(SOCKET, 0x01, 0x40);
  return bytes;
}

/** Sends one frame, as the driver does. */
function put({ write, word }, bytes) {
  const at = word(SOCKET, 0x24);
  write(TX, at, ...bytes);
  const next = (at + bytes.length) & 0xffff;
  write(SOCKET, 0x24, next >> 8, next & 0xff);
  write(SOCKET, 0x01, 0x20);
}

test('it says that it is a W5500 and has a link', () => {
  const { read, eth } = chip();
  assert.deepEqual(read(COMMON, 0x39, 1), [4]);
  assert.equal(read(COMMON, 0x2e, 1)[0] & 1, 1);
  eth.linkUp = false;
  assert.equal(read(COMMON, 0x2e, 1)[0] & 1, 0);
});

test('what is written to a register is read back, and a software reset forgets it', () => {
  const { read, write } = chip();
  write(COMMON, 0x09, ...MAC);
  assert.deepEqual(read(COMMON, 0x09, 6), MAC);
  write(COMMON, 0x00, 0x80);
  assert.deepEqual(read(COMMON, 0x09, 6), [0, 0, 0, 0, 0, 0]);
});

test('a frame written to the buffer goes out with SEND', () => {
  const it = opened();
  put(it, [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(it.sent, [[1, 2, 3, 4, 5, 6, 7, 8]]);
  assert.equal(it.word(SOCKET, 0x20), 16384, 'the buffer is free again');
});

test('frames go out whole over the end of the buffer', () => {
  const it = opened();
  for (let i = 0; i < 40; i++) put(it, frame(MAC, 1514, i));
  assert.equal(it.sent.length, 40);
  assert.ok(it.sent.every((sent, i) => sent.length === 1514 && sent[1513] === i));
});

test('without a link nothing goes out and nothing comes in', () => {
  const it = opened();
  it.eth.linkUp = false;
  put(it, [1, 2, 3]);
  it.eth.receive(frame(MAC));
  assert.deepEqual(it.sent, []);
  assert.equal(it.word(SOCKET, 0x26), 0);
});

test('a frame that arrives pulls INT low until it is acknowledged', () => {
  const it = opened();
  it.eth.receive(frame(MAC));
  assert.deepEqual(it.levels, [false]);
  assert.deepEqual(take(it), [...frame(MAC)]);
  assert.deepEqual(it.levels, [false, true]);
  assert.equal(it.word(SOCKET, 0x26), 0);
});

test('frames left after a RECV raise no new interrupt, and are there all the same', () => {
  const it = opened();
  it.eth.receive(frame(MAC, 60, 1));
  it.eth.receive(frame(MAC, 60, 2));
  assert.equal(take(it)[59], 1);
  assert.equal(it.levels.at(-1), true);
  assert.equal(it.word(SOCKET, 0x26), 62);
  assert.equal(take(it)[59], 2);
});

test('frames come in whole over the end of the buffer', () => {
  const it = opened();
  for (let i = 0; i < 40; i++) {
    it.eth.receive(frame(MAC, 1514, i));
    assert.deepEqual(take(it), [...frame(MAC, 1514, i)]);
  }
});

test('a full buffer loses what comes next, and says so', () => {
  const it = opened();
  for (let i = 0; i < 12; i++) it.eth.receive(frame(MAC, 1514, i));
  assert.deepEqual(it.eth.statistics, { sent: 0, received: 10, overrun: 2, filtered: 0 });
  assert.equal(take(it)[1513], 0);
});

test('an oversized frame is taken in while there is room', () => {
  const it = opened();
  it.eth.receive(frame(MAC, 9000));
  assert.deepEqual(take(it), [...frame(MAC, 9000)]);
  it.eth.receive(frame(MAC, 16383));
  assert.equal(it.word(SOCKET, 0x26), 0);
});

test('the filter passes what is for us, for all, and for groups', () => {
  const it = opened();
  const other = [2, 0, 0, 9, 9, 9];
  const all = [255, 255, 255, 255, 255, 255];
  const group = [1, 0, 0x5e, 0, 0, 251];
  for (const to of [MAC, other, all, group]) it.eth.receive(frame(to));
  assert.deepEqual([take(it), take(it), take(it)].map((bytes) => bytes.slice(0, 6)), [MAC, all, group]);
  assert.equal(it.eth.statistics.filtered, 1);
});

test('groups can be blocked', () => {
  const it = opened(MACRAW_FILTERED | 0x20);
  it.eth.receive(frame([1, 0, 0x5e, 0, 0, 251]));
  assert.equal(it.eth.statistics.filtered, 1);
});

test('a closed socket takes nothing', () => {
  const it = chip();
  it.eth.receive(frame(MAC));
  assert.equal(it.word(SOCKET, 0x26), 0);
});
