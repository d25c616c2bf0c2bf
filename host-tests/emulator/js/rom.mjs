// A boot ROM of our own: the public functions that firmware looks up in it, each two instructions, `BKPT #n; BX LR`, the first of
// which ends up here. Beside it what a flash driver touches while it does without the ROM: XIP_CTRL, and the SSI in
// the mode in which it passes commands to the flash chip.

import { registers } from './registers.mjs';

/** The two letters under which each function is looked up; the position is its number. */
const FUNCTIONS = ['P3', 'R3', 'L3', 'T3', 'MS', 'S4', 'MC', 'C4', 'IF', 'EX', 'RE', 'RP', 'FC', 'CX'];
const LOOKUP = 0xff;
const LOOKUP_AT = 0x40;
const FUNCTIONS_AT = 0x100;
/** Where the ROM ends. A BKPT above is the program's own. */
export const ROM_SIZE = 0x4000;

const XIP_CTRL = 0x14000;
const XIP_STATUS = 8;
const XIP_FLUSHED_AND_EMPTY = 3;
const SSI = 0x18000;
const SSI_CONTROL1 = 0x04;
const SSI_ENABLE = 0x08;
const SSI_DATA = 0x60;
const READ_JEDEC_ID = 0x9f;
const READ_UNIQUE_ID = 0x4b;

/** Winbond W25Q16JV. */
const JEDEC_ID = [0xef, 0x70, 0x15];
/** The command that erases 64 KB. */
const BLOCK_ERASE = 0xd8;

/** Writes the ROM and the peripherals around it. `erase(at, length, blocks)` and `program(at, data)` are the flash chip. */
export function installRom(rp, { uniqueId, erase, program }) {
  const rom = new DataView(rp.bootrom.buffer);
  const halfword = (at, value) => rom.setUint16(at, value, true);
  const call = (at, number) => {
    halfword(at, 0xbe00 | number);
    halfword(at + 2, 0x4770);
  };
  halfword(0x10, 0x754d); // 'M', 'u'
  halfword(0x12, 0x0301); // 1, and the version: 3
  halfword(0x14, 0x80); // The tables themselves are never read: looking up is one of our calls.
  halfword(0x16, 0x90);
  halfword(0x18, LOOKUP_AT | 1);
  call(LOOKUP_AT, LOOKUP);
  FUNCTIONS.forEach((_, number) => call(FUNCTIONS_AT + 4 * number, number));

  rp.peripherals[XIP_CTRL] = registers((offset) => (offset === XIP_STATUS ? XIP_FLUSHED_AND_EMPTY : 0), () => {});
  installFlashCommands(rp, uniqueId);

  /** Answers a `BKPT` in the ROM. */
  return (number) => {
    const r = rp.core.registers;
    if (number === LOOKUP) {
      const name = String.fromCharCode(r[1] & 0xff, (r[1] >> 8) & 0xff);
      const found = FUNCTIONS.indexOf(name);
      if (found < 0) rp.logger.warn('ROM', `there is no function ${name}`);
      r[0] = found < 0 ? 0 : (FUNCTIONS_AT + 4 * found) | 1;
      return;
    }
    switch (FUNCTIONS[number]) {
      case 'P3':
        r[0] = countOnes(r[0]);
        return;
      case 'R3':
        r[0] = reverse(r[0]);
        return;
      case 'L3':
        r[0] = Math.clz32(r[0]);
        return;
      case 'T3':
        r[0] = r[0] ? 31 - Math.clz32(r[0] & -r[0]) : 32;
        return;
      case 'MS': case 'S4':
        for (let i = 0; i < r[2]; i++) rp.writeUint8(r[0] + i, r[1] & 0xff);
        return;
      case 'MC': case 'C4':
        for (let i = 0; i < r[2]; i++) rp.writeUint8(r[0] + i, rp.readUint8(r[1] + i));
        return;
      case 'RE':
        erase(r[0], r[1], r[3] === BLOCK_ERASE);
        return;
      case 'RP':
        program(r[0], Uint8Array.from({ length: r[2] }, (_, i) => rp.readUint8(r[1] + i)));
        return;
      // IF, EX, FC, CX connect the flash, leave and enter execution in place, and flush its cache: nothing to do.
    }
  };
}

/** The SSI, when it is told to pass a command to the flash chip and collect the answer. Else the package's own. */
function installFlashCommands(rp, uniqueId) {
  const ssi = rp.peripherals[SSI];
  const read = ssi.readUint32.bind(ssi);
  const write = ssi.writeUint32.bind(ssi);
  let begun = false;
  let answer = [];
  ssi.readUint32 = (offset) => (offset === SSI_DATA && answer.length ? answer.shift() : read(offset));
  ssi.writeUint32 = (offset, value) => {
    if (offset === SSI_ENABLE) {
      begun = false;
      answer = [];
    } else if (offset === SSI_DATA && !begun) {
      begun = true;
      const length = (read(SSI_CONTROL1) & 0xffff) + 1;
      const command = value & 0xff;
      if (command === READ_JEDEC_ID) answer = JEDEC_ID.slice(0, length);
      // Four bytes without meaning, then the id.
      if (command === READ_UNIQUE_ID) answer = [0, 0, 0, 0, ...uniqueId].slice(0, length);
    }
    write(offset, value);
  };
}

function countOnes(value) {
  let ones = 0;
  for (; value; value &= value - 1) ones++;
  return ones;
}

function reverse(value) {
  let result = 0;
  for (let i = 0; i < 32; i++) result |= ((value >>> i) & 1) << (31 - i);
  return result;
}
