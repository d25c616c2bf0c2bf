// Holds our core against the package's, instruction by instruction.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { RP2040 } from 'rp2040js';
import { Cpu } from '../cpu.mjs';
import { Memory } from '../memory.mjs';
import { Random } from '../random.mjs';

const SRAM = 0x20000000;
const CODE = SRAM + 0x8000;
const DATA = SRAM + 0x10000;

/** A chip without peripherals, whose complaints are counted. */
function chip() {
  const rp = new RP2040();
  rp.complaints = 0;
  const complain = () => rp.complaints++;
  rp.peripherals = {};
  rp.sio = rp.ppb = { readUint32: complain, writeUint32: complain };
  rp.logger = { debug() {}, info() {}, warn: complain, error: complain };
  rp.onBreak = complain;
  return rp;
}

function core(rp) {
  const memory = new Memory();
  memory.flash.fill(0xff);
  return new Cpu(rp, memory);
}

function setUp(rp, opcodes, registers, { N = false, Z = false, C = false, V = false } = {}) {
  opcodes.forEach((opcode, i) => rp.sramView.setUint16(CODE - SRAM + 2 * i, opcode, true));
  rp.core.registers.set(registers);
  Object.assign(rp.core, { N, Z, C, V, PC: CODE, PM: false, IPSR: 0, currentMode: 0, waiting: false });
  Object.assign(rp.core, { eventRegistered: false, interruptsUpdated: false, pendingSVCall: false });
  rp.complaints = 0;
}

/** What an instruction may change, beside memory. */
function state({ core }) {
  const { N, Z, C, V, PM, waiting } = core;
  return { registers: [...core.registers].map((value) => value.toString(16)), N, Z, C, V, PM, waiting };
}

function step(cpu) {
  cpu.faulted = cpu.lockedUp = false;
  cpu.onFault = () => cpu.rp.complaints++;
  cpu.run(cpu.rp.clock.nanos + 1);
}

/** Instructions in which the package departs from Arm's manual. They have tests of their own below. */
function departs(opcode, registers, { C }) {
  // BX, BLX and CMP with PC have no defined meaning. The package's BLX LR goes to the next instruction.
  if ((opcode & 0xfff8) === 0x47f0) return true;
  if (opcode >> 8 === 0b01000111 || opcode >> 8 === 0b01000101) return (opcode & 0x78) === 0x78 || (opcode & 0x87) === 0x87;
  // STM always writes the address back.
  if (opcode >> 11 === 0b11000) return !!(opcode & (1 << ((opcode >> 8) & 7)));
  if (opcode >> 10 !== 0b010000) return false;
  const shift = registers[(opcode >> 3) & 7] & 0xff;
  const operand = registers[(opcode >> 3) & 7] >>> 0;
  const target = registers[opcode & 7] >>> 0;
  switch ((opcode >> 6) & 15) {
    case 2: case 3: case 4: case 7:
      return shift === 0 || shift > 31;
    case 5:
      return C && (target === 0x7fffffff || target === 0xffffffff);
    case 6:
      return !C && operand === 0x7fffffff;
    default:
      return false;
  }
}

test('every instruction does what it does in the package', () => {
  const random = new Random(1);
  const theirs = chip();
  const ours = chip();
  const cpu = core(ours);
  const edges = [0, 1, -1, 0x7fffffff, -0x80000000, 0xff, 32, 31];
  let compared = 0;
  for (let round = 0; round < 6; round++) {
    for (let opcode = 0; opcode < 0xe800; opcode++) {
      const registers = Array.from({ length: 16 }, () => {
        const kind = random.next() & 3;
        if (kind === 0) return random.next() >>> 0;
        if (kind === 1) return edges[random.next() & 7] >>> 0;
        return kind === 2 ? DATA + (random.next() & 0xffc) : random.next() & 0x3c;
      });
      registers[13] = DATA + 0x2000;
      const bits = random.next();
      const flags = { N: !!(bits & 1), Z: !!(bits & 2), C: !!(bits & 4), V: !!(bits & 8) };
      for (const rp of [theirs, ours]) {
        for (let i = 0; i < 64; i++) rp.sramView.setUint32(DATA - SRAM + 4 * i, Math.imul(i + 1, 0x9e3779b9), true);
        setUp(rp, [opcode, 0xbf00], registers, flags);
      }
      theirs.core.executeInstruction();
      step(cpu);
      if (theirs.complaints || ours.complaints || departs(opcode, registers, flags)) {
        ours.sram.set(theirs.sram);
        theirs.bootrom.fill(0);
        continue;
      }
      compared++;
      const before = JSON.stringify({ registers: registers.map((value) => value.toString(16)), ...flags });
      const name = `opcode ${opcode.toString(16)} with ${before}`;
      assert.deepEqual(state(ours), state(theirs), name);
      assert.equal(Buffer.compare(ours.sram.subarray(0x10000, 0x13000), theirs.sram.subarray(0x10000, 0x13000)), 0, name);
    }
  }
  assert.ok(compared > 150_000, `${compared} compared`);
});

test('a branch with link goes where it goes in the package', () => {
  const random = new Random(2);
  const theirs = chip();
  const ours = chip();
  const cpu = core(ours);
  for (let i = 0; i < 20_000; i++) {
    const opcodes = [0xf000 | (random.next() & 0x7ff), 0xd000 | (random.next() & 0x2fff)];
    for (const rp of [theirs, ours]) setUp(rp, opcodes, new Array(16).fill(0));
    theirs.core.executeInstruction();
    step(cpu);
    assert.deepEqual(state(ours).registers, state(theirs).registers, opcodes.map((o) => o.toString(16)).join(' '));
  }
});

for (const [what, ...opcodes] of [['nothing', 0xe7fe], ['a NOP', 0xbf00, 0xe7fd]]) {
  test(`a loop of ${what} takes no effort, and an alarm still comes on time`, () => {
    const rp = chip();
    const cpu = core(rp);
    const FLASH_CODE = 0x10001000;
    opcodes.forEach((opcode, i) => rp.flashView.setUint16(0x1000 + 2 * i, opcode, true));
    rp.core.PC = FLASH_CODE;
    let rang = 0;
    rp.clock.createAlarm(() => (rang = rp.clock.nanos)).schedule(5e8);
    cpu.run(1e9);
    assert.equal(rang, 5e8);
    assert.ok(rp.clock.nanos >= 1e9);
    assert.ok(cpu.instructions < 10, `${cpu.instructions} instructions`);
    assert.ok(rp.core.PC - FLASH_CODE < 4);
  });
}

test('the loop is compiled ahead of time', () => {
  // Node.js warns of asm.js that is none, and then runs it as plain JavaScript, at a tenth of the speed.
  const script = `
    import { Loop } from './loop.mjs';
    const none = () => 0;
    const ways = { load: none, store: none, fetch: none, rare: none, leave: none, wfe: none, sev: none };
    Loop(globalThis, ways, new ArrayBuffer(0x400000));`;
  const directory = new URL('..', import.meta.url);
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: directory, encoding: 'utf8' });
  assert.equal(stderr, '');
});

/** Runs one instruction on r0 and r1. */
function run(opcode, r0, r1, flags) {
  const rp = chip();
  const cpu = core(rp);
  setUp(rp, [opcode, 0xbf00], [r0, r1, ...new Array(14).fill(0)], flags);
  step(cpu);
  const { N, Z, C, V } = rp.core;
  return { result: rp.core.registers[0], flags: `${N ? 'N' : '-'}${Z ? 'Z' : '-'}${C ? 'C' : '-'}${V ? 'V' : '-'}` };
}

const LSLS = 0x4088;
const LSRS = 0x40c8;
const ASRS = 0x4108;
const ADCS = 0x4148;
const SBCS = 0x4188;
const RORS = 0x41c8;

test('a shift by nothing leaves the carry alone', () => {
  for (const opcode of [LSLS, LSRS, ASRS, RORS]) {
    assert.deepEqual(run(opcode, 0x80000001, 0, { C: true }), { result: 0x80000001, flags: 'N-C-' });
    assert.deepEqual(run(opcode, 0x80000001, 0x100, { C: false }), { result: 0x80000001, flags: 'N---' });
  }
});

test('a shift by 32 and more', () => {
  assert.deepEqual(run(LSLS, 1, 32), { result: 0, flags: '-ZC-' });
  assert.deepEqual(run(LSLS, 1, 33, { C: true }), { result: 0, flags: '-Z--' });
  assert.deepEqual(run(LSRS, 0x80000000, 32), { result: 0, flags: '-ZC-' });
  assert.deepEqual(run(LSRS, 0x80000000, 33, { C: true }), { result: 0, flags: '-Z--' });
  assert.deepEqual(run(ASRS, 0x80000000, 200), { result: 0xffffffff, flags: 'N-C-' });
  assert.deepEqual(run(RORS, 0x80000001, 32), { result: 0x80000001, flags: 'N-C-' });
});

test('overflow with a carry in, where the operand is the greatest number', () => {
  assert.deepEqual(run(ADCS, 0x7fffffff, 0, { C: true }), { result: 0x80000000, flags: 'N--V' });
  assert.deepEqual(run(ADCS, 0xffffffff, 0x80000000, { C: true }), { result: 0x80000000, flags: 'N-C-' });
  // -1 - (2^31 - 1) - 1 is less than any number there is.
  assert.deepEqual(run(SBCS, 0xffffffff, 0x7fffffff, { C: false }), { result: 0x7fffffff, flags: '--CV' });
});
