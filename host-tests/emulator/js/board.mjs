// The WIZnet W5500-EVB-Pico as a whole: chip, flash, Ethernet, LED, and the plug. Time on a board goes on from the first
// power-on, over all resets and the time without power.

import { GPIOPinState } from 'rp2040js';
import { Chip } from './chip.mjs';
import { Flash } from './flash.mjs';
import { Memory } from './memory.mjs';
import { Random } from './random.mjs';
import { Rtt } from './rtt.mjs';
import { Stack } from './stack.mjs';
import { W5500 } from './w5500.mjs';

const PIN_SELECT = 17;
const PIN_ETHERNET_RESET = 20;
const PIN_INTERRUPT = 21;
const PIN_LED = 25;

/** A board's cycle: the clock that the firmware sets, 125 MHz. Cuts are given in it, and work is counted in it. */
const NANOS_PER_CYCLE = 8;
/** Between two looks at the RTT buffer, which holds about a thousand bytes. */
const LOOK_EVERY = 100e3;
/** A byte on a 100 Mbit/s wire; and what a frame takes beside its bytes: preamble, checksum, gap. */
const WIRE_NANOS_PER_BYTE = 80;
const WIRE_OVERHEAD = 24;
/** Frames a switch keeps for a slow port. */
const WIRE_QUEUE = 256;

export class Board {
  #random;
  #uniqueId;
  #onEvent;
  #memory = new Memory();
  #chip = null;
  #epoch = 0;
  #cutAt = Infinity;
  #cutIn = null;
  #arriving = [];
  #arrival = null;
  #wireFree = 0;
  #cycles = 0;
  #instructions = 0;

  /** `onEvent(event)` hears what happens; `onFrame(bytes)` gets what is sent. */
  constructor({ elf, flashFile, uniqueId, seed, onEvent, onFrame }) {
    this.#random = new Random(seed);
    this.#uniqueId = uniqueId;
    this.#onEvent = onEvent;
    this.flash = new Flash({ bytes: this.#memory.flash, file: flashFile, random: this.#random });
    this.flash.load(elf);
    this.rtt = new Rtt(this.#memory.sram, elf.symbol('_SEGGER_RTT'));
    this.stack = new Stack(elf, this.#memory.sram);
    this.ethernet = new W5500({
      onFrame,
      onInterrupt: (high) => this.#chip?.rp.gpio[PIN_INTERRUPT].setInputValue(high),
    });
    this.led = false;
    this.boots = {};
    this.invalid = 0;
    this.lostInQueue = 0;
  }

  /** Nanoseconds since the first power-on. */
  get nanos() {
    return this.#epoch + (this.#chip?.nanos ?? 0);
  }

  get powered() {
    return this.#chip !== null;
  }

  /** When something can next happen by itself. Now, if the core is at work. */
  get asleepUntil() {
    return this.#chip ? Math.min(this.#epoch + this.#chip.asleepUntil, this.#cutAt) : Infinity;
  }

  powerOn() {
    if (this.powered) return;
    this.#random.fill(this.#memory.sram);
    this.stack.paint();
    this.ethernet.reset();
    this.#start('power-on');
  }

  powerOff() {
    if (!this.powered) return;
    this.#takeLog();
    this.flash.cut(this.#chip.nanos);
    this.#stop();
    this.#cutAt = Infinity;
    this.#cutIn = null;
    this.#tell('off');
  }

  /** Pulls the plug when the board's clock is at this cycle. */
  cutAt(cycle) {
    this.#cutAt = Math.max(this.nanos, cycle * NANOS_PER_CYCLE);
  }

  /** Pulls the plug in the middle of the next flash operation of this kind: `erase` or `program`. */
  cutIn(operation) {
    this.#cutIn = operation;
  }

  /** A frame comes over the wire, at the wire's speed. */
  receive(frame) {
    if (!this.powered || this.#arriving.length >= WIRE_QUEUE) {
      this.lostInQueue++;
      return;
    }
    this.#wireFree = Math.max(this.#wireFree, this.nanos) + (frame.length + WIRE_OVERHEAD) * WIRE_NANOS_PER_BYTE;
    this.#arriving.push({ frame, at: this.#wireFree });
    if (this.#arriving.length === 1) this.#expect();
  }

  /** Lets time pass until the board's clock is at `until`. */
  run(until) {
    while (this.nanos < until) {
      if (!this.powered) {
        this.#epoch = until;
        return;
      }
      const step = this.asleepUntil > this.nanos ? this.asleepUntil : this.nanos + LOOK_EVERY;
      this.#chip.run(Math.min(until, this.#cutAt, step) - this.#epoch);
      this.#takeLog();
      if (this.nanos >= this.#cutAt) this.powerOff();
      else if (this.#chip.resetWanted) this.#reset(this.#chip.resetWanted);
    }
  }

  get statistics() {
    return {
      nanos: Math.round(this.nanos),
      cycle: Math.round(this.nanos / NANOS_PER_CYCLE),
      busy_cycles: this.#cycles + (this.#chip?.cpu.cycles ?? 0),
      instructions: this.#instructions + (this.#chip?.cpu.instructions ?? 0),
      powered: this.powered,
      led: this.led,
      boots: this.boots,
      invalid: this.invalid,
      stack: this.stack.statistics,
      flash: this.flash.statistics,
      ethernet: { ...this.ethernet.statistics, lost_in_queue: this.lostInQueue },
    };
  }

  #tell(event, more) {
    this.#onEvent({ event, at: Math.round(this.nanos), ...more });
  }

  #start(why) {
    const before = this.#chip;
    if (before) this.#stop();
    const chip = (this.#chip = new Chip({
      why,
      before,
      flash: this.flash,
      memory: this.#memory,
      uniqueId: this.#uniqueId,
      random: this.#random,
      device: this.ethernet,
      onInvalid: (what, pc) => {
        this.invalid++;
        this.#tell('invalid', { what, pc: pc.toString(16) });
      },
      onFlash: (operation, address, length) => {
        this.#tell('flash', { operation, address, length });
        if (operation === this.#cutIn) this.#cutAt = this.#epoch + (this.#chip.nanos + this.flash.nextStep) / 2;
      },
    }));
    const { gpio, clock } = chip.rp;
    gpio[PIN_INTERRUPT].setInputValue(this.ethernet.interruptHigh);
    gpio[PIN_SELECT].addListener((state) => this.ethernet.select(state === GPIOPinState.Low));
    gpio[PIN_ETHERNET_RESET].addListener((state) => state === GPIOPinState.Low && this.ethernet.reset());
    gpio[PIN_LED].addListener((state) => this.#setLed(state === GPIOPinState.High));
    this.#arrival = clock.createAlarm(() => this.#arrive());
    this.#expect();
    this.boots[why] = (this.boots[why] ?? 0) + 1;
    this.#tell('boot', { why });
  }

  #reset(why) {
    this.#takeLog();
    this.rtt.forget();
    this.flash.abandon();
    this.#start(why);
  }

  #stop() {
    const { cpu, nanos } = this.#chip;
    this.#epoch += nanos;
    this.#cycles += cpu.cycles;
    this.#instructions += cpu.instructions;
    this.#chip = null;
    this.#setLed(false);
    this.ethernet.select(false);
  }

  #setLed(on) {
    if (on === this.led) return;
    this.led = on;
    this.#tell('led', { on });
  }

  #takeLog() {
    const bytes = this.rtt.take();
    if (bytes) this.#tell('log', { bytes: Buffer.from(bytes).toString('hex') });
  }

  #expect() {
    if (this.#arriving.length) this.#arrival.schedule(Math.max(0, this.#arriving[0].at - this.nanos));
  }

  #arrive() {
    this.ethernet.receive(this.#arriving.shift().frame);
    this.#expect();
  }
}
