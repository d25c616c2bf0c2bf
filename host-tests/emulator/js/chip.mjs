// The RP2040: the rp2040js package with what it lacks (a ROM, the ring oscillator, the reason of the last reset, HardFault, AIRCR),
// a faster core and a faster SPI. One of these lives from a reset to the next. What outlives it (memory, the watchdog's
// scratch registers) is handed on by the board.

import { RP2040 } from 'rp2040js';
import { Cpu } from './cpu.mjs';
import { SRAM_START } from './memory.mjs';
import { registers } from './registers.mjs';
import { installRom, ROM_SIZE } from './rom.mjs';
import { Spi } from './spi.mjs';

/** Where the ROM puts the second stage bootloader, and its stack below. */
const BOOT2_AT = SRAM_START + 0x41f00;
const BOOT2_SIZE = 256;

const WATCHDOG = 0x40058;
const ROSC = 0x40060;
const VREG_AND_CHIP_RESET = 0x40064;

/** Why a chip starts. `reason` is what WATCHDOG_REASON says then; software resets leave it as it was. */
export const RESETS = {
  'power-on': { reason: 0 },
  watchdog: { reason: 1 },
  'watchdog-forced': { reason: 2 },
  software: {},
};

export class Chip {
  /**
   * `why` is a key of RESETS; `before` is the chip that was reset, for its scratch registers. `flash` is a Flash in
   * `memory`, `random` feeds the ring oscillator, `device` is on the SPI.
   * `onInvalid(what, pc)` hears of everything that the chip would not do, or that the package does not know.
   */
  constructor({ why, before, flash, memory, uniqueId, random, device, onInvalid, onFlash }) {
    const rp = (this.rp = new RP2040());
    /** Set when the chip must be reset: a key of RESETS. */
    this.resetWanted = null;
    this.flash = flash;
    const cpu = (this.cpu = new Cpu(rp, memory));
    cpu.onFault = (what) => onInvalid(what, rp.core.PC >>> 0);
    rp.logger = new Strict(cpu, (what) => onInvalid(what, rp.core.PC >>> 0));
    this.#installChipReset();
    this.#installRingOscillator(random);
    this.#installWatchdog(why, before);
    this.#installSoftwareReset();
    const answerRom = installRom(rp, {
      uniqueId,
      erase: (at, length, blocks) => this.#flashWork(() => {
        flash.erase(at, length, this.nanos, blocks);
        onFlash('erase', at, length);
      }),
      program: (at, data) => this.#flashWork(() => {
        flash.program(at, data, this.nanos);
        onFlash('program', at, data.length);
      }),
    });
    rp.onBreak = (number) => {
      if (rp.core.PC >>> 0 < ROM_SIZE) answerRom(number);
      else cpu.fault(`breakpoint or undefined instruction ${number}`);
    };
    this.spi = new Spi(rp, device);
    this.#boot();
  }

  /** Nanoseconds since this chip's reset. */
  get nanos() {
    return this.rp.clock.nanosCounter;
  }

  /** Runs until `until` or until a reset is wanted. Sleep and flash operations pass without work. */
  run(until) {
    const { cpu, flash } = this;
    const { core, clock } = this.rp;
    while (clock.nanosCounter < until && this.resetWanted === null) {
      if (core.waiting || cpu.lockedUp || flash.busy) {
        const alarm = clock.nextAlarm;
        let next = alarm !== null && alarm.nanos < until ? alarm.nanos : until;
        if (flash.busy) next = Math.min(next, flash.nextStep);
        clock.tick(Math.max(0, next - clock.nanosCounter));
        flash.advance(clock.nanosCounter);
      } else cpu.run(until);
    }
  }

  /** Whether nothing happens before the next alarm, and when that is (Infinity if there is none). */
  get asleepUntil() {
    if (!this.rp.core.waiting && !this.cpu.lockedUp && !this.flash.busy) return this.nanos;
    return Math.min(this.rp.clock.nextAlarm?.nanos ?? Infinity, this.flash.nextStep);
  }

  /** What the ROM does with a valid image: stage two to the top of SRAM, and call it. */
  #boot() {
    const { core, sram, flash } = this.rp;
    sram.set(flash.subarray(0, BOOT2_SIZE), BOOT2_AT - SRAM_START);
    core.SP = BOOT2_AT;
    core.LR = 0;
    core.PC = BOOT2_AT;
  }

  /** CHIP_RESET tells of chip-level resets only, and those are all by power here: the others leave it alone. */
  #installChipReset() {
    const CHIP_RESET = 8;
    const HAD_POR = 1 << 8;
    const values = new Map([[0, 0xb0], [4, 0x91]]);
    this.rp.peripherals[VREG_AND_CHIP_RESET] = registers(
      (offset) => (offset === CHIP_RESET ? HAD_POR : values.get(offset) ?? 0),
      (offset, value) => values.set(offset, value),
    );
  }

  #installRingOscillator(random) {
    const STATUS = 0x18;
    const RANDOM_BIT = 0x1c;
    const STABLE_AND_ENABLED = 0x80001000;
    const values = new Map();
    const read = (offset) => {
      if (offset === RANDOM_BIT) return random.next() >>> 31;
      return offset === STATUS ? STABLE_AND_ENABLED : values.get(offset) ?? 0;
    };
    this.rp.peripherals[ROSC] = registers(read, (offset, value) => values.set(offset, value));
  }

  #installWatchdog(why, before) {
    const watchdog = this.rp.peripherals[WATCHDOG];
    const old = why === 'power-on' ? undefined : before?.rp.peripherals[WATCHDOG];
    if (old) watchdog.scratchData.set(old.scratchData);
    watchdog.reason = RESETS[why].reason ?? old?.reason ?? 0;
    if (why === 'software' && old?.enable) {
      // The core alone is reset: the watchdog goes on counting.
      watchdog.timer.set(old.timer.counter);
      watchdog.writeUint32(0, 1 << 30);
    }
    watchdog.onWatchdogTrigger = () => {
      watchdog.alarm.enable = false;
      this.#reset(watchdog.reason === 2 ? 'watchdog-forced' : 'watchdog');
    };
  }

  /** The application interrupt and reset control register, which the package leaves out. */
  #installSoftwareReset() {
    const AIRCR = 0xd0c;
    const KEY = 0x05fa;
    const SYSRESETREQ = 4;
    const { ppb } = this.rp;
    const read = ppb.readUint32.bind(ppb);
    const write = ppb.writeUint32.bind(ppb);
    ppb.readUint32 = (offset) => (offset === AIRCR ? 0xfa050000 : read(offset));
    ppb.writeUint32 = (offset, value) => {
      if (offset !== AIRCR) write(offset, value);
      else if (value >>> 16 === KEY && value & SYSRESETREQ) this.#reset('software');
    };
  }

  #reset(why) {
    this.resetWanted ??= why;
    this.cpu.stop = true;
  }

  /** Begins a flash operation, and has the core stand still: it would wait in the ROM until it is done. */
  #flashWork(begin) {
    try {
      begin();
      this.cpu.stop = true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.cpu.fault(error.message);
    }
  }
}

/** The package's logger. It says "warning" and "error" of what the true chip would not do, or what the package cannot. */
class Strict {
  constructor(cpu, onInvalid) {
    this.cpu = cpu;
    this.onInvalid = onInvalid;
  }

  debug() {}

  info() {}

  warn(component, message) {
    // The bus answers an address nobody has with an error; a register the package lacks is there on the chip.
    if (component === 'RP2040') this.cpu.fault(message);
    else this.onInvalid(`${component}: ${message}`);
  }

  error(component, message) {
    this.warn(component, message);
  }
}
