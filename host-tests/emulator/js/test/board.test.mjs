// The smaller parts of a board: the log's buffer, the stack's paint, the cable.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SRAM_SIZE, SRAM_START } from '../memory.mjs';
import { Deframer, framed, Link } from '../link.mjs';
import { Rtt } from '../rtt.mjs';
import { Stack } from '../stack.mjs';

const BLOCK = 0x100;
const BUFFER = 0x200;
const SIZE = 8;

/** RAM in which a program has set up an RTT buffer of 8 bytes. */
function programmed() {
  const sram = new Uint8Array(SRAM_SIZE);
  const view = new DataView(sram.buffer);
  sram.set(Buffer.from('SEGGER RTT\0\0\0\0\0\0', 'latin1'), BLOCK);
  view.setUint32(BLOCK + 28, SRAM_START + BUFFER, true);
  view.setUint32(BLOCK + 32, SIZE, true);
  const write = (text) => {
    for (const byte of Buffer.from(text)) {
      const at = view.getUint32(BLOCK + 36, true);
      sram[BUFFER + at] = byte;
      view.setUint32(BLOCK + 36, (at + 1) % SIZE, true);
    }
  };
  return { sram, write };
}

for (const [how, symbol] of [['by its symbol', SRAM_START + BLOCK], ['by searching', undefined]]) {
  test(`the log is found ${how} and taken piece by piece, also over the buffer's end`, () => {
    const { sram, write } = programmed();
    const rtt = new Rtt(sram, symbol);
    assert.equal(rtt.take(), null);
    write('hello');
    assert.equal(Buffer.from(rtt.take()).toString(), 'hello');
    assert.equal(rtt.take(), null);
    write('world');
    assert.equal(Buffer.from(rtt.take()).toString(), 'world');
  });
}

test('RAM without a log, and the log of before a reset, are nothing', () => {
  assert.equal(new Rtt(new Uint8Array(SRAM_SIZE), SRAM_START + BLOCK).take(), null);
  assert.equal(new Rtt(new Uint8Array(SRAM_SIZE)).take(), null);
  const { sram, write } = programmed();
  const rtt = new Rtt(sram, SRAM_START + BLOCK);
  write('old');
  rtt.forget();
  assert.equal(rtt.take(), null);
});

/** An image that says where its stack begins and which RAM is taken. */
function image(top, ...taken) {
  const bytes = Buffer.alloc(0x104);
  bytes.writeUInt32LE(top, 0x100);
  return {
    segments: [{ address: 0x10000000, bytes }],
    sections: taken.map(([address, size]) => ({ allocated: true, address, size })),
  };
}

test('the stack is found above the variables and below them', () => {
  const sram = new Uint8Array(SRAM_SIZE);
  const end = SRAM_START + SRAM_SIZE;
  const above = new Stack(image(end, [SRAM_START, 0x1000], [SRAM_START + 0x1000, 0x234]), sram);
  assert.equal(above.statistics.size, SRAM_SIZE - 0x1234);
  const below = new Stack(image(SRAM_START + 0x8000, [SRAM_START + 0x8000, SRAM_SIZE - 0x8000]), sram);
  assert.equal(below.statistics.size, 0x8000);
});

test('the deepest word that was written tells how much of the stack was used', () => {
  const sram = new Uint8Array(SRAM_SIZE);
  const stack = new Stack(image(SRAM_START + 0x1000), sram);
  stack.paint();
  assert.deepEqual(stack.statistics, { size: 0x1000, used: 0 });
  sram[0x1000 - 0x100] = 1;
  sram[0x1000 - 4] = 1;
  assert.deepEqual(stack.statistics, { size: 0x1000, used: 0x100 });
});

test('frames come out of a stream as they went in, however it is cut', () => {
  const frames = [Uint8Array.from([1, 2, 3]), new Uint8Array(0), new Uint8Array(1514).fill(9)];
  const stream = Buffer.concat(frames.map(framed));
  for (const piece of [1, 3, 5, 700, stream.length]) {
    const out = [];
    const deframer = new Deframer();
    for (let at = 0; at < stream.length; at += piece) deframer.push(stream.subarray(at, at + piece), (f) => out.push([...f]));
    assert.deepEqual(out, frames.map((f) => [...f]), `in pieces of ${piece}`);
  }
});

test('a pulled cable carries nothing, a bad one loses its share, the same for the same seed', () => {
  const got = [];
  const link = new Link((frame) => got.push(frame[0]));
  link.up = false;
  link.receive([1]);
  assert.equal(link.send([1]), false);
  link.up = true;
  assert.equal(link.send([1]), true);
  const lossy = (seed) => {
    got.length = 0;
    link.setLoss({ receive: 0.25, send: 0, seed });
    for (let i = 0; i < 200; i++) link.receive([i]);
    return [...got];
  };
  const first = lossy(5);
  assert.ok(first.length > 120 && first.length < 180, `${first.length} of 200`);
  assert.deepEqual(lossy(5), first);
  assert.notDeepEqual(lossy(6), first);
});
