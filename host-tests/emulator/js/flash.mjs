// The flash chip: 2 MB whose content outlives resets, power cuts and, in a file, the emulator.
//
// Erasing and programming take their time, and power can fail in the middle. What is then left of the page or sector at work
// is neither the old content nor the new: a journal that survives this survives a pulled plug.

import fs from 'node:fs';
import { FLASH_SIZE as SIZE } from './memory.mjs';

export const SECTOR = 4096;
export const BLOCK = 65536;
export const PAGE = 256;

/** Typical times of the W25Q16 on the board, in nanoseconds. */
const SECTOR_ERASE = 45e6;
const BLOCK_ERASE = 150e6;
const PAGE_PROGRAM = 0.7e6;

export class Flash {
  #file;
  #steps = [];

  /**
   * `bytes` is where the content is, `file` keeps it; without one it is gone with the process. `random` makes the garbage of a
   * power cut.
   */
  constructor({ bytes = new Uint8Array(SIZE), file, random }) {
    this.bytes = bytes.fill(0xff);
    this.random = random;
    /** Operations so far, and how many of them power failed in. */
    this.statistics = { erases: 0, programs: 0, cut: 0 };
    if (!file) return;
    this.#file = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT);
    if (fs.readSync(this.#file, this.bytes, 0, SIZE, 0) < SIZE) this.#save(0, SIZE);
  }

  /** Puts an image where it belongs, as a programmer would. What it does not cover stays. */
  load(elf) {
    for (const { address, bytes } of elf.segments) {
      const at = address - 0x10000000;
      if (at < 0 || at + bytes.length > SIZE) throw new Error(`the image's segment at ${address.toString(16)} is not in flash`);
      this.bytes.set(bytes, at);
    }
    this.#save(0, SIZE);
  }

  /** Begins to erase whole sectors; blocks of 64 KB at once where `blocks` allows. Says how long it takes. */
  erase(at, length, now, blocks = false) {
    this.#mustBeAligned(at, length, SECTOR);
    this.statistics.erases++;
    const steps = [];
    for (const end = at + length; at < end; ) {
      const size = blocks && at % BLOCK === 0 && end - at >= BLOCK ? BLOCK : SECTOR;
      steps.push({ at, size, takes: size === BLOCK ? BLOCK_ERASE : SECTOR_ERASE });
      at += size;
    }
    return this.#begin(steps, now);
  }

  /** Begins to program whole pages: bits go from one to zero only. Says how long it takes. */
  program(at, data, now) {
    this.#mustBeAligned(at, data.length, PAGE);
    this.statistics.programs++;
    const steps = [];
    for (let from = 0; from < data.length; from += PAGE) {
      steps.push({ at: at + from, size: PAGE, takes: PAGE_PROGRAM, data: data.slice(from, from + PAGE) });
    }
    return this.#begin(steps, now);
  }

  /** Whether an operation is under way. */
  get busy() {
    return this.#steps.length > 0;
  }

  /** When the page or sector at work is done; Infinity if none is. */
  get nextStep() {
    return this.busy ? this.#steps[0].ends : Infinity;
  }

  /** Carries the operation on to `now`. */
  advance(now) {
    while (this.busy && this.#steps[0].ends <= now) {
      const { at, size, data } = this.#steps.shift();
      if (data) for (let i = 0; i < size; i++) this.bytes[at + i] &= data[i];
      else this.bytes.fill(0xff, at, at + size);
      this.#save(at, size);
    }
  }

  /** Power fails: what is done is done, what is at work becomes garbage, the rest is not begun. */
  cut(now) {
    this.advance(now);
    if (!this.busy) return;
    const { at, size, data } = this.#steps[0];
    for (let i = at; i < at + size; i++) {
      // A cell on its way to zero may have arrived or not. One that is being erased is first programmed, then erased, so
      // that it may hold anything.
      if (data) this.bytes[i] &= data[i - at] | this.random.next();
      else this.bytes[i] = this.random.next();
    }
    this.#save(at, size);
    this.#steps = [];
    this.statistics.cut++;
  }

  /** The chip beside it is reset: the flash, which keeps its power, ends the page or sector at work; nobody asks for the next. */
  abandon() {
    this.#steps = this.#steps.slice(0, 1);
    this.advance(Infinity);
  }

  #begin(steps, now) {
    let ends = now;
    for (const step of steps) step.ends = ends += step.takes;
    this.#steps = steps;
    return ends - now;
  }

  #mustBeAligned(at, length, unit) {
    if (at % unit || length % unit || at + length > SIZE) {
      throw new RangeError(`flash operation at ${at.toString(16)} of ${length} bytes: not whole units of ${unit} in the chip`);
    }
  }

  #save(at, size) {
    if (this.#file !== undefined) fs.writeSync(this.#file, this.bytes, at, size, at);
  }
}
