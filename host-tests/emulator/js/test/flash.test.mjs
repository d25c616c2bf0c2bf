// The flash chip, and what a power cut does to it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BLOCK, Flash, PAGE, SECTOR } from '../flash.mjs';
import { Random } from '../random.mjs';

const MS = 1e6;

function flash(seed = 1) {
  return new Flash({ random: new Random(seed) });
}

/** A flash whose first sectors hold zeros. */
function written(sectors = 4) {
  const it = flash();
  it.bytes.fill(0, 0, sectors * SECTOR);
  return it;
}

const all = (it, from, to, value) => it.bytes.subarray(from, to).every((byte) => byte === value);

test('erasing a sector takes 45 ms and leaves ones', () => {
  const it = written();
  assert.equal(it.erase(SECTOR, SECTOR, 0), 45 * MS);
  it.advance(44 * MS);
  assert.ok(all(it, 0, 4 * SECTOR, 0), 'nothing is to be seen before the time is over');
  it.advance(45 * MS);
  assert.ok(all(it, SECTOR, 2 * SECTOR, 0xff));
  assert.ok(all(it, 0, SECTOR, 0) && all(it, 2 * SECTOR, 4 * SECTOR, 0), 'its neighbours are as before');
  assert.equal(it.busy, false);
});

test('sectors are erased one after the other, blocks at once if that is asked for', () => {
  assert.equal(flash().erase(0, 16 * SECTOR, 0), 16 * 45 * MS);
  assert.equal(flash().erase(0, BLOCK, 0, true), 150 * MS);
  assert.equal(flash().erase(SECTOR, BLOCK, 0, true), 16 * 45 * MS, 'not across the blocks');
});

test('programming a page takes 0.7 ms and turns ones into zeros, never back', () => {
  const it = flash();
  it.bytes.fill(0x0f, 0, PAGE);
  assert.equal(it.program(0, new Uint8Array(2 * PAGE).fill(0x3c), 0), 1.4 * MS);
  it.advance(0.7 * MS);
  assert.ok(all(it, 0, PAGE, 0x0c));
  assert.ok(all(it, PAGE, 2 * PAGE, 0xff), 'the second page is not done yet');
  it.advance(1.4 * MS);
  assert.ok(all(it, PAGE, 2 * PAGE, 0x3c));
});

test('a cut while erasing leaves garbage in that sector, and only there', () => {
  const it = written();
  it.erase(0, 3 * SECTOR, 0);
  it.cut(60 * MS);
  assert.ok(all(it, 0, SECTOR, 0xff), 'the first was done');
  const middle = it.bytes.subarray(SECTOR, 2 * SECTOR);
  assert.ok(new Set(middle).size > 200, 'the second may hold anything');
  assert.ok(all(it, 2 * SECTOR, 4 * SECTOR, 0), 'the third was not begun');
  assert.equal(it.busy, false);
  assert.equal(it.statistics.cut, 1);
});

test('a cut while programming leaves some bits written and no bit that should have stayed', () => {
  const it = flash();
  const data = new Uint8Array(2 * PAGE).fill(0x55);
  it.program(0, data, 0);
  it.cut(0.3 * MS);
  const page = it.bytes.subarray(0, PAGE);
  assert.ok(page.every((byte) => (byte & 0x55) === 0x55), 'ones stay ones');
  assert.ok(page.some((byte) => byte !== 0x55) && page.some((byte) => byte !== 0xff), 'neither done nor not begun');
  assert.ok(all(it, PAGE, 2 * PAGE, 0xff), 'the second page was not begun');
});

test('a cut between operations harms nothing', () => {
  const it = written(1);
  it.erase(0, SECTOR, 0);
  it.cut(50 * MS);
  assert.ok(all(it, 0, SECTOR, 0xff));
  assert.equal(it.statistics.cut, 0);
});

test('the same seed leaves the same garbage', () => {
  const cut = (seed) => {
    const it = flash(seed);
    it.erase(0, SECTOR, 0);
    it.cut(1 * MS);
    return Buffer.from(it.bytes.subarray(0, SECTOR));
  };
  assert.ok(cut(1).equals(cut(1)));
  assert.ok(!cut(1).equals(cut(2)));
});

test('a reset of the chip beside it lets the sector at work be finished, and no other', () => {
  const it = written();
  it.erase(0, 2 * SECTOR, 0);
  it.abandon();
  assert.ok(all(it, 0, SECTOR, 0xff));
  assert.ok(all(it, SECTOR, 2 * SECTOR, 0));
});

test('operations that are not in whole pages and sectors are refused', () => {
  assert.throws(() => flash().erase(1, SECTOR, 0), RangeError);
  assert.throws(() => flash().erase(0, SECTOR - 1, 0), RangeError);
  assert.throws(() => flash().program(0, new Uint8Array(3), 0), RangeError);
  assert.throws(() => flash().erase(2 * 1024 * 1024, SECTOR, 0), RangeError);
});

test('the file keeps what was written and what a cut left; a new image leaves the rest alone', (context) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leaguebox-flash-'));
  context.after(() => fs.rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'flash');
  const first = new Flash({ file, random: new Random(1) });
  first.program(8 * SECTOR, new Uint8Array(PAGE).fill(0x11), 0);
  first.advance(1 * MS);
  first.erase(9 * SECTOR, SECTOR, 0);
  first.cut(20 * MS);
  const second = new Flash({ file, random: new Random(2) });
  second.load({ segments: [{ address: 0x10000000, bytes: Uint8Array.from([1, 2, 3]) }] });
  assert.ok(Buffer.from(second.bytes.subarray(3)).equals(Buffer.from(first.bytes.subarray(3))));
  assert.deepEqual([...new Flash({ file, random: new Random(3) }).bytes.subarray(0, 4)], [1, 2, 3, 0xff]);
});
