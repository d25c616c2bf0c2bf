// The processor: the loop in loop.mjs, at work on the registers, memory and peripherals of the rp2040js package.
//
// The package's own core finds an instruction by some eighty comparisons and lets the clock tick after each one. Here a table
// of all 65,536 halfwords names the instruction, the loop is compiled ahead of time, and the clock moves only when somebody could
// notice: at the next alarm and at every access to a peripheral. What is rare (MSR, SVC, BKPT, exceptions) is left to the package.
// `test/cpu.test.mjs` holds the two cores against each other, and names the few corners where the package departs from
// Arm's manual and this one does not.

import { DECODED, Loop, ONES } from './loop.mjs';

/**
 * The words through which the loop and the rest speak. `n` and `v` are set by their sign, `z` by being zero; `budget` is in cycles,
 * `count` in instructions; `pending` says that an interrupt waits for PRIMASK to be cleared.
 */
const Cell = { n: 0, z: 1, c: 2, v: 3, primask: 4, budget: 5, count: 6, pending: 7 };

const HANDLER_MODE = 1;
const NMI = 2;
const HARD_FAULT = 3;

export class Cpu {
  #cells;
  #execute;
  #until = 0;
  #begun = 0;
  #perCycle = 0;

  /** `rp` is a chip of the package whose memory is `memory`. */
  constructor(rp, memory) {
    this.rp = rp;
    memory.attach(rp);
    memory.decoded.set(DECODED);
    memory.ones.set(ONES);
    this.#cells = memory.cells;
    const ways = {
      load: (address, width, cycles) => this.#load(address >>> 0, width, cycles - 1),
      store: (address, width, value, cycles) => this.#store(address >>> 0, width, value, cycles - 1),
      fetch: (pc, cycles) => this.#load(pc >>> 0, 2, cycles),
      rare: (cycles) => this.#rare(cycles - 1),
      leave: (target) => this.#leaveException(target),
      wfe: () => this.#waitForEvent(),
      sev: () => void (rp.core.eventRegistered = true), // The package leaves it out.
    };
    this.#execute = Loop(globalThis, ways, memory.heap).execute;
    /** What a wild access is told to, in words. Set it. */
    this.onFault = () => {};
    this.faulted = false;
    /** Instructions executed. */
    this.instructions = 0;
    /** Cycles executed: time the core was not asleep. */
    this.cycles = 0;
    /** The core does nothing any more: a fault in the handler of a fault. Only a reset helps. */
    this.lockedUp = false;
    /** Set from outside to have `run` return after the instruction at hand. */
    this.stop = false;
  }

  /** Something the chip answers with a HardFault. It is entered before the next instruction. */
  fault(what) {
    this.faulted = true;
    this.onFault(what);
  }

  /** Executes until the clock is at `until`, or the core sleeps, or it was told to stop. Fires alarms on the way. */
  run(until) {
    const { core, clock } = this.rp;
    const cells = this.#cells;
    this.stop = false;
    this.#until = until;
    while (clock.nanosCounter < until && !core.waiting && !this.lockedUp && !this.stop) {
      if (this.#interruptWaits() && !core.PM) core.checkForInterrupts();
      this.#begun = clock.nanosCounter;
      this.#perCycle = 1e9 / this.rp.clkSys;
      this.#toCells();
      cells[Cell.count] = 0;
      this.#plan(0);
      const cycles = this.#execute();
      this.#fromCells();
      this.cycles += cycles;
      this.instructions += cells[Cell.count];
      clock.tick(this.#begun + cycles * this.#perCycle - clock.nanosCounter);
      if (this.faulted) this.#enterHardFault();
    }
  }

  /** Sets how far the loop may go: to the next alarm, or not at all if something must be looked at first. */
  #plan(cycles) {
    const { core, clock, clkSys } = this.rp;
    const cells = this.#cells;
    const waits = this.#interruptWaits();
    cells[Cell.pending] = waits ? 1 : 0;
    const interrupted = cycles > 0 && waits && !cells[Cell.primask];
    if (interrupted || this.stop || this.faulted || core.waiting || this.#perCycle !== 1e9 / clkSys) {
      cells[Cell.budget] = 0;
      return;
    }
    const alarm = clock.nextAlarm;
    const target = alarm !== null && alarm.nanos < this.#until ? alarm.nanos : this.#until;
    cells[Cell.budget] = Math.min(0x7fffffff, Math.max(cycles > 0 ? 0 : 1, Math.ceil((target - this.#begun) / this.#perCycle)));
  }

  #interruptWaits() {
    const { core } = this.rp;
    return (
      (core.pendingInterrupts & core.enabledInterrupts) !== 0 ||
      core.pendingPendSV || core.pendingSystick || core.pendingSVCall || core.pendingNMI
    );
  }

  #toCells() {
    const { N, Z, C, V, PM } = this.rp.core;
    const cells = this.#cells;
    cells[Cell.n] = N ? -1 : 0;
    cells[Cell.z] = Z ? 0 : 1;
    cells[Cell.c] = C ? 1 : 0;
    cells[Cell.v] = V ? -1 : 0;
    cells[Cell.primask] = PM ? 1 : 0;
  }

  #fromCells() {
    const { core } = this.rp;
    const cells = this.#cells;
    core.N = cells[Cell.n] < 0;
    core.Z = cells[Cell.z] === 0;
    core.C = cells[Cell.c] !== 0;
    core.V = cells[Cell.v] < 0;
    core.PM = cells[Cell.primask] !== 0;
  }

  /** A load that is not from SRAM or flash. The clock is brought up to date first: peripherals read it. */
  #load(address, width, cycles) {
    const { rp } = this;
    rp.clock.nanosCounter = this.#begun + cycles * this.#perCycle;
    let value = 0;
    if (address & (width - 1)) this.fault(`unaligned load at ${address.toString(16)}`);
    else if (width === 4) value = rp.readUint32(address);
    else value = width === 2 ? rp.readUint16(address) : rp.readUint8(address);
    this.#plan(cycles + 1);
    return value;
  }

  /** A store that is not to SRAM. */
  #store(address, width, value, cycles) {
    const { rp } = this;
    rp.clock.nanosCounter = this.#begun + cycles * this.#perCycle;
    // The package would let a stray store change the ROM and the flash.
    if (address < 0x14000000) this.fault(`store to read-only ${address.toString(16)}`);
    else if (address & (width - 1)) this.fault(`unaligned store at ${address.toString(16)}`);
    else if (width === 4) rp.writeUint32(address, value >>> 0);
    else if (width === 2) rp.writeUint16(address, value & 0xffff);
    else rp.writeUint8(address, value & 0xff);
    this.#plan(cycles + 1);
  }

  /** An instruction that is left to the package. */
  #rare(cycles) {
    const { core, clock } = this.rp;
    clock.nanosCounter = this.#begun + cycles * this.#perCycle;
    this.#fromCells();
    // It would look for interrupts first, and then execute another instruction than this one.
    core.interruptsUpdated = false;
    const taken = core.executeInstruction();
    this.#toCells();
    return taken - 1;
  }

  #leaveException(target) {
    const { core } = this.rp;
    if (core.currentMode !== HANDLER_MODE) return 0;
    this.#fromCells();
    core.exceptionReturn(target & 0x0fffffff);
    this.#toCells();
    return 1;
  }

  #waitForEvent() {
    const { core } = this.rp;
    if (!core.eventRegistered) core.waiting = true;
    core.eventRegistered = false;
    return core.waiting ? 1 : 0;
  }

  #enterHardFault() {
    const { core } = this.rp;
    this.faulted = false;
    if (core.IPSR === HARD_FAULT || core.IPSR === NMI) {
      this.lockedUp = true;
      this.onFault('a fault in the handler of a fault');
    } else core.exceptionEntry(HARD_FAULT);
  }
}
