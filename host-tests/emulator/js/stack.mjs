// How deep the stack has been: its memory is painted when power comes, and later one looks how far the paint is gone. The
// image paints it once more when it starts, in the same colour.

import { SRAM_SIZE, SRAM_START } from './memory.mjs';

const PAINT = 0xcccccccc;
const VECTORS = 0x10000100;

export class Stack {
  /** Finds the stack: it begins where the vector table says and may grow down to the next thing in RAM, or to RAM's start. */
  constructor(elf, sram) {
    const holds = ({ address, bytes }) => address <= VECTORS && VECTORS < address + bytes.length;
    const vectors = elf.segments.find(holds);
    if (!vectors) throw new Error('the image has no vector table at 10000100');
    const top = vectors.bytes.readUInt32LE(VECTORS - vectors.address);
    const below = elf.sections
      .filter((section) => section.allocated && section.size > 0 && section.address >= SRAM_START)
      .map((section) => section.address + section.size)
      .filter((end) => end <= top && end <= SRAM_START + SRAM_SIZE);
    const bottom = (Math.max(SRAM_START, ...below) + 3) & ~3;
    this.words = new Uint32Array(sram.buffer, sram.byteOffset + bottom - SRAM_START, (top - bottom) >> 2);
  }

  paint() {
    this.words.fill(PAINT);
  }

  /** In bytes: what there is, and the most that was in use since it was painted. */
  get statistics() {
    const touched = this.words.findIndex((word) => word !== PAINT);
    const free = touched < 0 ? this.words.length : touched;
    return { size: this.words.length * 4, used: (this.words.length - free) * 4 };
  }
}
