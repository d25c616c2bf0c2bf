// The parts of an ELF file that matter here: what goes into flash, which RAM is taken, and where a symbol is.

import fs from 'node:fs';

const PT_LOAD = 1;
const SHT_SYMTAB = 2;
const SHF_ALLOC = 2;

export class Elf {
  constructor(path) {
    const file = (this.file = fs.readFileSync(path));
    if (file.length < 52 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 1 || file[5] !== 1) {
      throw new Error(`${path} is not a 32-bit little-endian ELF file`);
    }
    /** What is loaded: `{ address, bytes }`, by load address. */
    this.segments = this.#table(28, 42, 44, (at) => ({
      type: file.readUInt32LE(at),
      address: file.readUInt32LE(at + 12),
      bytes: file.subarray(file.readUInt32LE(at + 4), file.readUInt32LE(at + 4) + file.readUInt32LE(at + 16)),
    })).filter(({ type, bytes }) => type === PT_LOAD && bytes.length > 0);
    /** Every section: `{ type, allocated, address, offset, size, link }`. */
    this.sections = this.#table(32, 46, 48, (at) => ({
      type: file.readUInt32LE(at + 4),
      allocated: (file.readUInt32LE(at + 8) & SHF_ALLOC) !== 0,
      address: file.readUInt32LE(at + 12),
      offset: file.readUInt32LE(at + 16),
      size: file.readUInt32LE(at + 20),
      link: file.readUInt32LE(at + 24),
    }));
  }

  #table(offsetAt, sizeAt, countAt, read) {
    const { file } = this;
    const offset = file.readUInt32LE(offsetAt);
    const size = file.readUInt16LE(sizeAt);
    return Array.from({ length: file.readUInt16LE(countAt) }, (_, i) => read(offset + i * size));
  }

  /** A symbol's value, or undefined. */
  symbol(name) {
    const { file } = this;
    for (const { type, offset, size, link } of this.sections) {
      if (type !== SHT_SYMTAB) continue;
      const names = this.sections[link].offset;
      for (let at = offset; at < offset + size; at += 16) {
        const from = names + file.readUInt32LE(at);
        if (file.toString('latin1', from, from + name.length + 1) === `${name}\0`) return file.readUInt32LE(at + 4);
      }
    }
    return undefined;
  }
}
