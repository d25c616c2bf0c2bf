// The host's side of SEGGER RTT, as a debug probe plays it: takes the bytes a program leaves in a ring in its RAM.

import { SRAM_START } from './memory.mjs';

const MAGIC = 'SEGGER RTT\0\0\0\0\0\0';
/** Where the fields of the first up-buffer are, from the control block's start. */
const UP = 24;
const BUFFER = UP + 4;
const SIZE = UP + 8;
const WRITE = UP + 12;
const READ = UP + 16;

export class Rtt {
  #sram;
  #view;
  #block;

  /** `symbol` is the address of the control block, if the ELF tells; else it is searched for. */
  constructor(sram, symbol) {
    this.#sram = sram;
    this.#view = new DataView(sram.buffer, sram.byteOffset, sram.length);
    this.#block = symbol === undefined ? undefined : symbol - SRAM_START;
  }

  /** The bytes written since the last time, or null. */
  take() {
    const block = this.#find();
    if (block === undefined) return null;
    const view = this.#view;
    const write = view.getUint32(block + WRITE, true);
    const read = view.getUint32(block + READ, true);
    if (write === read) return null;
    const start = view.getUint32(block + BUFFER, true) - SRAM_START;
    const size = view.getUint32(block + SIZE, true);
    // A control block that is just being set up may be half there.
    if (start < 0 || start + size > this.#sram.length || write >= size || read >= size) return null;
    const bytes =
      read < write
        ? this.#sram.slice(start + read, start + write)
        : Buffer.concat([this.#sram.subarray(start + read, start + size), this.#sram.subarray(start, start + write)]);
    view.setUint32(block + READ, write, true);
    return bytes;
  }

  /** Before a reset: the old control block must not be taken for the one the next boot sets up. */
  forget() {
    const block = this.#find();
    if (block !== undefined) this.#sram.fill(0, block, block + MAGIC.length);
  }

  #find() {
    const isHere = (at) => Buffer.compare(this.#sram.subarray(at, at + MAGIC.length), Buffer.from(MAGIC, 'latin1')) === 0;
    if (this.#block === undefined) {
      const at = Buffer.from(this.#sram.buffer, this.#sram.byteOffset, this.#sram.length).indexOf(MAGIC, 0, 'latin1');
      if (at < 0) return undefined;
      this.#block = at;
    }
    return isHere(this.#block) ? this.#block : undefined;
  }
}
