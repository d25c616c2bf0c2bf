// All of a board's memory in one buffer, where the core's compiled loop can reach it: flash, SRAM, registers, a few words between
// the loop and the rest, and the loop's tables. The places are repeated as numbers in loop.mjs, which may use nothing else.

export const SRAM_START = 0x20000000;
export const SRAM_SIZE = 264 * 1024;
export const FLASH_SIZE = 2 * 1024 * 1024;

const REGISTERS_AT = 0;
const CELLS_AT = 0x40;
const DECODED_AT = 0x10000;
const ONES_AT = 0x20000;
const SRAM_AT = 0x100000;
const FLASH_AT = 0x200000;
/** A power of two, as the loop's compiler wants it. */
const HEAP_SIZE = 0x400000;

export class Memory {
  constructor() {
    const heap = (this.heap = new ArrayBuffer(HEAP_SIZE));
    this.flash = new Uint8Array(heap, FLASH_AT, FLASH_SIZE);
    this.sram = new Uint8Array(heap, SRAM_AT, SRAM_SIZE);
    this.registers = new Uint32Array(heap, REGISTERS_AT, 16);
    /** See `Cell` in cpu.mjs. */
    this.cells = new Int32Array(heap, CELLS_AT, 8);
    /** The instruction that each halfword begins. */
    this.decoded = new Uint8Array(heap, DECODED_AT, 0x10000);
    /** How many bits are set in a list of nine registers. */
    this.ones = new Uint8Array(heap, ONES_AT, 0x200);
  }

  /** Has a chip of the package use this memory and these registers. */
  attach(rp) {
    rp.sram = this.sram;
    rp.sramView = new DataView(this.heap, SRAM_AT, SRAM_SIZE);
    rp.flash = this.flash;
    rp.flash16 = new Uint16Array(this.heap, FLASH_AT, FLASH_SIZE / 2);
    rp.flashView = new DataView(this.heap, FLASH_AT, FLASH_SIZE);
    this.registers.set(rp.core.registers);
    rp.core.registers = this.registers;
  }
}
