// The hot loop: Thumb instructions, executed on the registers, memory and peripherals of the rp2040js package.
//
// The package's own core finds an instruction by some eighty comparisons and lets the clock tick after each one. Here a table
// of all 65,536 halfwords names the instruction, the flags are kept as plain numbers, memory is read through typed arrays,
// and the clock moves only when somebody could notice: at the next alarm and at every access to a peripheral. What is rare
// (MSR, SVC, BKPT, exceptions) is left to the package. `test/cpu.test.mjs` holds the two cores against each other, and
// names the few corners where the package departs from Arm's manual and this file does not.

/** `case` 0: left to the package. */
const RARE = 0;

/** The instruction each halfword begins: the numbers of the `case`s below. */
const DECODED = Uint8Array.from({ length: 0x10000 }, (_, opcode) => decode(opcode));

function decode(opcode) {
  const top5 = opcode >> 11;
  switch (opcode >> 12) {
    case 0b0000: case 0b0001:
      if (top5 < 3) return 1 + top5; // 1 LSLS, 2 LSRS, 3 ASRS by a constant
      return 4 + ((opcode >> 9) & 3); // 4 ADDS, 5 SUBS registers; 6 ADDS, 7 SUBS with 3 bits
    case 0b0010: case 0b0011:
      return 8 + (top5 & 3); // 8 MOVS, 9 CMP, 10 ADDS, 11 SUBS with 8 bits
    case 0b0100:
      if (top5 === 0b01001) return 32; // LDR from the literal pool
      if (opcode >> 10 === 0b010000) return 12 + ((opcode >> 6) & 15); // 12..27: two registers
      if ((opcode >> 8 & 3) !== 3) return 28 + ((opcode >> 8) & 3); // 28 ADD, 29 CMP, 30 MOV with any register
      return opcode & 7 ? RARE : 31; // BX and BLX
    case 0b0101:
      return 33 + ((opcode >> 9) & 7); // 33..40: loads and stores at a register plus a register
    case 0b0110: case 0b0111: case 0b1000: case 0b1001:
      return 41 + (top5 - 0b01100); // 41..48: loads and stores at a register plus a constant
    case 0b1010:
      return 49 + (top5 & 1); // 49 ADR, 50 ADD from SP
    case 0b1011:
      if (opcode >> 8 === 0b10110000) return 51; // ADD, SUB to SP
      if (opcode >> 8 === 0b10110010) return 52 + ((opcode >> 6) & 3); // 52 SXTH, 53 SXTB, 54 UXTH, 55 UXTB
      if (opcode >> 9 === 0b1011010) return 56; // PUSH
      if (opcode >> 9 === 0b1011110) return 57; // POP
      if (opcode >> 6 === 0b1011101000) return 58; // REV
      if (opcode >> 6 === 0b1011101001) return 59; // REV16
      if (opcode >> 6 === 0b1011101011) return 60; // REVSH
      if (opcode === 0xb672) return 61; // CPSID i
      if (opcode === 0xb662) return 62; // CPSIE i
      if (opcode === 0xbf00) return 63; // NOP
      if (opcode === 0xbf20) return 64; // WFE
      if (opcode === 0xbf40) return 65; // SEV
      return RARE;
    case 0b1100:
      return 66 + (top5 & 1); // 66 STM, 67 LDM
    case 0b1101:
      return (opcode >> 8 & 15) < 14 ? 68 + ((opcode >> 8) & 15) : RARE; // 68..81: B if
    case 0b1110:
      return top5 === 0b11100 ? 82 : RARE; // B
    default:
      return top5 === 0b11110 ? 83 : RARE; // BL, and with it barriers, MRS and MSR
  }
}

const SRAM = 0x20000000;
const FLASH = 0x10000000;
const HANDLER_MODE = 1;
const NMI = 2;
const HARD_FAULT = 3;

export class Cpu {
  /** `rp` is a chip of the package. Make a new one of these when its `sram` or `flash` is another array. */
  constructor(rp) {
    this.rp = rp;
    /** What a wild access is told to, in words. Set it. */
    this.onFault = () => {};
    this.faulted = false;
    this.registers = new Int32Array(rp.core.registers.buffer);
    this.sram8 = rp.sram;
    this.sram16 = new Uint16Array(rp.sram.buffer);
    this.sram32 = new Int32Array(rp.sram.buffer);
    this.flash8 = rp.flash;
    this.flash16 = new Uint16Array(rp.flash.buffer);
    this.flash32 = new Int32Array(rp.flash.buffer);
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
    this.stop = false;
    while (clock.nanosCounter < until && !core.waiting && !this.lockedUp && !this.stop) {
      if (core.interruptsUpdated && core.checkForInterrupts()) core.waiting = false;
      const alarm = clock.nextAlarm;
      const target = alarm !== null && alarm.nanos < until ? alarm.nanos : until;
      const begun = clock.nanosCounter;
      const perCycle = 1e9 / this.rp.clkSys;
      const cycles = this.#execute(Math.max(1, Math.ceil((target - begun) / perCycle)), begun, perCycle);
      this.cycles += cycles;
      clock.tick(begun + cycles * perCycle - clock.nanosCounter);
      if (this.faulted) this.#enterHardFault();
    }
  }

  #enterHardFault() {
    const { core } = this.rp;
    this.faulted = false;
    if (core.IPSR === HARD_FAULT || core.IPSR === NMI) {
      this.lockedUp = true;
      this.onFault('a fault in the handler of a fault');
    } else core.exceptionEntry(HARD_FAULT);
  }

  /** A load from anywhere but SRAM and flash. The clock is brought up to date first: peripherals read it. */
  #load(address, width, now) {
    const { rp } = this;
    rp.clock.nanosCounter = now;
    address >>>= 0;
    if (address & (width - 1)) this.fault(`unaligned load at ${address.toString(16)}`);
    else if (width === 4) return rp.readUint32(address) | 0;
    else return width === 2 ? rp.readUint16(address) : rp.readUint8(address);
    return 0;
  }

  /** A store to anywhere but SRAM. */
  #store(address, width, value, now) {
    const { rp } = this;
    rp.clock.nanosCounter = now;
    address >>>= 0;
    // The package would let a stray store change the ROM and the flash.
    if (address < 0x14000000) this.fault(`store to read-only ${address.toString(16)}`);
    else if (address & (width - 1)) this.fault(`unaligned store at ${address.toString(16)}`);
    else if (width === 4) rp.writeUint32(address, value >>> 0);
    else if (width === 2) rp.writeUint16(address, value & 0xffff);
    else rp.writeUint8(address, value & 0xff);
  }

  /** Executes for `budget` cycles, or less if something must be looked at: a peripheral was used, interrupts were let in. */
  #execute(budget, begun, perCycle) {
    const { rp, sram8, sram16, sram32, flash8, flash16, flash32 } = this;
    const { core } = rp;
    const r = this.registers;
    const sramSize = sram8.length;
    const flashSize = flash8.length;
    let pc = r[15] & ~1;
    // N is the sign of `n`, Z says that `z` is zero, C is 0 or 1, V is the sign of `v`.
    let n = core.N ? -1 : 0;
    let z = core.Z ? 0 : 1;
    let c = core.C ? 1 : 0;
    let v = core.V ? -1 : 0;
    let cycles = 0;
    let count = 0;

    while (cycles < budget) {
      let opcode;
      if ((pc & 0xff000000) === FLASH) opcode = flash16[(pc & 0xffffff) >> 1];
      else if ((pc & 0xfff80000) === SRAM) opcode = sram16[(pc & 0x7ffff) >> 1];
      else opcode = rp.readUint16(pc >>> 0);
      if (opcode === undefined) opcode = rp.readUint16(pc >>> 0);
      pc = (pc + 2) | 0;
      count++;
      cycles++;

      switch (DECODED[opcode]) {
        case 1: { // LSLS Rd, Rm, #imm5
          const shift = (opcode >> 6) & 31;
          const value = r[(opcode >> 3) & 7];
          if (shift) c = (value >>> (32 - shift)) & 1;
          n = z = r[opcode & 7] = value << shift;
          break;
        }
        case 2: { // LSRS Rd, Rm, #imm5
          const shift = (opcode >> 6) & 31;
          const value = r[(opcode >> 3) & 7];
          c = (value >>> ((shift - 1) & 31)) & 1;
          n = z = r[opcode & 7] = shift ? value >>> shift : 0;
          break;
        }
        case 3: { // ASRS Rd, Rm, #imm5
          const shift = (opcode >> 6) & 31;
          const value = r[(opcode >> 3) & 7];
          c = (value >>> ((shift - 1) & 31)) & 1;
          n = z = r[opcode & 7] = value >> (shift || 31);
          break;
        }
        case 4: { // ADDS Rd, Rn, Rm
          const a = r[(opcode >> 3) & 7];
          const b = r[(opcode >> 6) & 7];
          const sum = (a + b) | 0;
          c = ((a & b) | ((a | b) & ~sum)) >>> 31;
          v = (a ^ sum) & (b ^ sum);
          n = z = r[opcode & 7] = sum;
          break;
        }
        case 5: { // SUBS Rd, Rn, Rm
          const a = r[(opcode >> 3) & 7];
          const b = r[(opcode >> 6) & 7];
          const rest = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~rest)) >>> 31;
          v = (a ^ b) & (a ^ rest);
          n = z = r[opcode & 7] = rest;
          break;
        }
        case 6: { // ADDS Rd, Rn, #imm3
          const a = r[(opcode >> 3) & 7];
          const b = (opcode >> 6) & 7;
          const sum = (a + b) | 0;
          c = (a & ~sum) >>> 31;
          v = ~a & sum;
          n = z = r[opcode & 7] = sum;
          break;
        }
        case 7: { // SUBS Rd, Rn, #imm3
          const a = r[(opcode >> 3) & 7];
          const b = (opcode >> 6) & 7;
          const rest = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~rest)) >>> 31;
          v = a & ~rest;
          n = z = r[opcode & 7] = rest;
          break;
        }
        case 8: // MOVS Rd, #imm8
          n = z = r[(opcode >> 8) & 7] = opcode & 0xff;
          break;
        case 9: { // CMP Rn, #imm8
          const a = r[(opcode >> 8) & 7];
          const b = opcode & 0xff;
          const rest = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~rest)) >>> 31;
          v = a & ~rest;
          n = z = rest;
          break;
        }
        case 10: { // ADDS Rdn, #imm8
          const d = (opcode >> 8) & 7;
          const a = r[d];
          const sum = (a + (opcode & 0xff)) | 0;
          c = (a & ~sum) >>> 31;
          v = ~a & sum;
          n = z = r[d] = sum;
          break;
        }
        case 11: { // SUBS Rdn, #imm8
          const d = (opcode >> 8) & 7;
          const a = r[d];
          const b = opcode & 0xff;
          const rest = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~rest)) >>> 31;
          v = a & ~rest;
          n = z = r[d] = rest;
          break;
        }
        case 12: // ANDS Rdn, Rm
          n = z = r[opcode & 7] &= r[(opcode >> 3) & 7];
          break;
        case 13: // EORS Rdn, Rm
          n = z = r[opcode & 7] ^= r[(opcode >> 3) & 7];
          break;
        case 14: { // LSLS Rdn, Rm
          const shift = r[(opcode >> 3) & 7] & 0xff;
          const d = opcode & 7;
          const value = r[d];
          if (shift) c = shift > 32 ? 0 : (value >>> (32 - shift)) & 1;
          n = z = r[d] = shift < 32 ? value << shift : 0;
          break;
        }
        case 15: { // LSRS Rdn, Rm
          const shift = r[(opcode >> 3) & 7] & 0xff;
          const d = opcode & 7;
          const value = r[d];
          if (shift) c = shift > 32 ? 0 : (value >>> (shift - 1)) & 1;
          n = z = r[d] = shift < 32 ? (value >>> shift) | 0 : 0;
          break;
        }
        case 16: { // ASRS Rdn, Rm
          const shift = Math.min(r[(opcode >> 3) & 7] & 0xff, 32);
          const d = opcode & 7;
          const value = r[d];
          if (shift) c = (value >> (shift - 1)) & 1;
          n = z = r[d] = value >> Math.min(shift, 31);
          break;
        }
        case 17: { // ADCS Rdn, Rm
          const d = opcode & 7;
          const a = r[d];
          const b = r[(opcode >> 3) & 7];
          const sum = (a + b + c) | 0;
          c = ((a & b) | ((a | b) & ~sum)) >>> 31;
          v = (a ^ sum) & (b ^ sum);
          n = z = r[d] = sum;
          break;
        }
        case 18: { // SBCS Rdn, Rm
          const d = opcode & 7;
          const a = r[d];
          const b = ~r[(opcode >> 3) & 7];
          const sum = (a + b + c) | 0;
          c = ((a & b) | ((a | b) & ~sum)) >>> 31;
          v = (a ^ sum) & (b ^ sum);
          n = z = r[d] = sum;
          break;
        }
        case 19: { // RORS Rdn, Rm
          const by = r[(opcode >> 3) & 7] & 0xff;
          const d = opcode & 7;
          const value = r[d];
          const result = (value >>> (by & 31)) | (value << (-by & 31));
          if (by) c = result >>> 31;
          n = z = r[d] = result;
          break;
        }
        case 20: // TST Rn, Rm
          n = z = r[opcode & 7] & r[(opcode >> 3) & 7];
          break;
        case 21: { // RSBS Rd, Rn, #0
          const b = r[(opcode >> 3) & 7];
          const rest = -b | 0;
          c = b === 0 ? 1 : 0;
          v = b & rest;
          n = z = r[opcode & 7] = rest;
          break;
        }
        case 22: case 29: { // CMP Rn, Rm; the second with any register
          const wide = opcode & 0x400 ? 1 : 0;
          const a = r[wide ? ((opcode >> 4) & 8) | (opcode & 7) : opcode & 7];
          const b = r[(opcode >> 3) & (wide ? 15 : 7)];
          const rest = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~rest)) >>> 31;
          v = (a ^ b) & (a ^ rest);
          n = z = rest;
          break;
        }
        case 23: { // CMN Rn, Rm
          const a = r[opcode & 7];
          const b = r[(opcode >> 3) & 7];
          const sum = (a + b) | 0;
          c = ((a & b) | ((a | b) & ~sum)) >>> 31;
          v = (a ^ sum) & (b ^ sum);
          n = z = sum;
          break;
        }
        case 24: // ORRS Rdn, Rm
          n = z = r[opcode & 7] |= r[(opcode >> 3) & 7];
          break;
        case 25: // MULS Rdm, Rn
          n = z = r[opcode & 7] = Math.imul(r[opcode & 7], r[(opcode >> 3) & 7]);
          break;
        case 26: // BICS Rdn, Rm
          n = z = r[opcode & 7] &= ~r[(opcode >> 3) & 7];
          break;
        case 27: // MVNS Rd, Rm
          n = z = r[opcode & 7] = ~r[(opcode >> 3) & 7];
          break;
        case 28: { // ADD Rdn, Rm
          const m = (opcode >> 3) & 15;
          const d = ((opcode >> 4) & 8) | (opcode & 7);
          const sum = ((d === 15 ? pc + 2 : r[d]) + (m === 15 ? pc + 2 : r[m])) | 0;
          if (d === 15) {
            pc = sum & ~1;
            cycles++;
          } else r[d] = d === 13 ? sum & ~3 : sum;
          break;
        }
        case 30: { // MOV Rd, Rm
          const m = (opcode >> 3) & 15;
          const d = ((opcode >> 4) & 8) | (opcode & 7);
          const value = m === 15 ? pc + 2 : r[m];
          if (d === 15) {
            pc = value & ~1;
            cycles++;
          } else r[d] = d === 13 ? value & ~3 : value;
          break;
        }
        case 31: { // BX Rm, BLX Rm
          const target = r[(opcode >> 3) & 15];
          cycles++;
          if (opcode & 0x80) r[14] = pc | 1;
          else if (target >>> 28 === 15 && core.currentMode === HANDLER_MODE) {
            pc = this.#returnFromException(target, n, z, c, v);
            ({ n, z, c, v } = this.#flags());
            budget = 0;
            break;
          }
          pc = target & ~1;
          break;
        }
        case 32: { // LDR Rt, [PC, #imm8]
          const address = ((pc + 2) & ~3) + ((opcode & 0xff) << 2);
          const inFlash = (address - FLASH) | 0;
          cycles++;
          if (inFlash >>> 0 < flashSize) r[(opcode >> 8) & 7] = flash32[inFlash >> 2];
          else {
            r[(opcode >> 8) & 7] = this.#load(address, 4, begun + (cycles - 2) * perCycle);
            budget = 0;
          }
          break;
        }
        // Loads and stores. Each address comes in up to three ways: Rn + Rm, Rn + a constant, SP + a constant.
        case 33: case 41: case 47: { // STR
          const o = DECODED[opcode];
          const address = o === 41 ? r[(opcode >> 3) & 7] + ((opcode >> 4) & 0x7c)
            : o === 47 ? r[13] + ((opcode & 0xff) << 2)
              : r[(opcode >> 3) & 7] + r[(opcode >> 6) & 7];
          const value = r[o === 47 ? (opcode >> 8) & 7 : opcode & 7];
          const inSram = (address - SRAM) | 0;
          if (inSram >>> 0 < sramSize && (inSram & 3) === 0) {
            sram32[inSram >> 2] = value;
            cycles++;
          } else {
            this.#store(address, 4, value, begun + (cycles - 1) * perCycle);
            cycles += waits(address, 4);
            budget = 0;
          }
          break;
        }
        case 34: case 45: { // STRH
          const address = r[(opcode >> 3) & 7] + (opcode & 0x8000 ? (opcode >> 5) & 0x3e : r[(opcode >> 6) & 7]);
          const inSram = (address - SRAM) | 0;
          if (inSram >>> 0 < sramSize && (inSram & 1) === 0) {
            sram16[inSram >> 1] = r[opcode & 7];
            cycles++;
          } else {
            this.#store(address, 2, r[opcode & 7], begun + (cycles - 1) * perCycle);
            cycles += waits(address, 4);
            budget = 0;
          }
          break;
        }
        case 35: case 43: { // STRB
          const address = r[(opcode >> 3) & 7] + (opcode & 0x2000 ? (opcode >> 6) & 0x1f : r[(opcode >> 6) & 7]);
          const inSram = (address - SRAM) | 0;
          if (inSram >>> 0 < sramSize) {
            sram8[inSram] = r[opcode & 7];
            cycles++;
          } else {
            this.#store(address, 1, r[opcode & 7], begun + (cycles - 1) * perCycle);
            cycles += waits(address, 4);
            budget = 0;
          }
          break;
        }
        case 37: case 42: case 48: { // LDR
          const o = DECODED[opcode];
          const address = o === 42 ? r[(opcode >> 3) & 7] + ((opcode >> 4) & 0x7c)
            : o === 48 ? r[13] + ((opcode & 0xff) << 2)
              : r[(opcode >> 3) & 7] + r[(opcode >> 6) & 7];
          const t = o === 48 ? (opcode >> 8) & 7 : opcode & 7;
          const inSram = (address - SRAM) | 0;
          const inFlash = (address - FLASH) | 0;
          if (inSram >>> 0 < sramSize && (inSram & 3) === 0) {
            r[t] = sram32[inSram >> 2];
            cycles++;
          } else if (inFlash >>> 0 < flashSize && (inFlash & 3) === 0) {
            r[t] = flash32[inFlash >> 2];
            cycles++;
          } else {
            r[t] = this.#load(address, 4, begun + (cycles - 1) * perCycle);
            cycles += waits(address, 3);
            budget = 0;
          }
          break;
        }
        case 38: case 40: case 46: { // LDRH, LDRSH
          const address = r[(opcode >> 3) & 7] + (opcode & 0x8000 ? (opcode >> 5) & 0x3e : r[(opcode >> 6) & 7]);
          const inSram = (address - SRAM) | 0;
          const inFlash = (address - FLASH) | 0;
          let value;
          if (inSram >>> 0 < sramSize && (inSram & 1) === 0) {
            value = sram16[inSram >> 1];
            cycles++;
          } else if (inFlash >>> 0 < flashSize && (inFlash & 1) === 0) {
            value = flash16[inFlash >> 1];
            cycles++;
          } else {
            value = this.#load(address, 2, begun + (cycles - 1) * perCycle);
            cycles += waits(address, 3);
            budget = 0;
          }
          r[opcode & 7] = DECODED[opcode] === 40 ? (value << 16) >> 16 : value;
          break;
        }
        case 36: case 39: case 44: { // LDRSB, LDRB
          const address = r[(opcode >> 3) & 7] + (opcode & 0x2000 ? (opcode >> 6) & 0x1f : r[(opcode >> 6) & 7]);
          const inSram = (address - SRAM) | 0;
          const inFlash = (address - FLASH) | 0;
          let value;
          if (inSram >>> 0 < sramSize) {
            value = sram8[inSram];
            cycles++;
          } else if (inFlash >>> 0 < flashSize) {
            value = flash8[inFlash];
            cycles++;
          } else {
            value = this.#load(address, 1, begun + (cycles - 1) * perCycle);
            cycles += waits(address, 3);
            budget = 0;
          }
          r[opcode & 7] = DECODED[opcode] === 36 ? (value << 24) >> 24 : value;
          break;
        }
        case 49: // ADR Rd, label
          r[(opcode >> 8) & 7] = ((pc + 2) & ~3) + ((opcode & 0xff) << 2);
          break;
        case 50: // ADD Rd, SP, #imm8
          r[(opcode >> 8) & 7] = r[13] + ((opcode & 0xff) << 2);
          break;
        case 51: // ADD SP, #imm7; SUB SP, #imm7
          r[13] += opcode & 0x80 ? -((opcode & 0x7f) << 2) : (opcode & 0x7f) << 2;
          break;
        case 52: // SXTH
          r[opcode & 7] = (r[(opcode >> 3) & 7] << 16) >> 16;
          break;
        case 53: // SXTB
          r[opcode & 7] = (r[(opcode >> 3) & 7] << 24) >> 24;
          break;
        case 54: // UXTH
          r[opcode & 7] = r[(opcode >> 3) & 7] & 0xffff;
          break;
        case 55: // UXTB
          r[opcode & 7] = r[(opcode >> 3) & 7] & 0xff;
          break;
        case 56: { // PUSH
          const words = ONES[opcode & 0x1ff];
          let o = (r[13] - 4 * words - SRAM) | 0;
          cycles += words;
          r[13] -= 4 * words;
          if (o >>> 0 > sramSize - 4 * words) {
            this.#store(o + SRAM, 4, 0, begun + cycles * perCycle);
            budget = 0;
            break;
          }
          o >>= 2;
          for (let i = 0, list = opcode & 0xff; list; i++, list >>= 1) if (list & 1) sram32[o++] = r[i];
          if (opcode & 0x100) sram32[o] = r[14];
          break;
        }
        case 57: { // POP
          const words = ONES[opcode & 0x1ff];
          let o = (r[13] - SRAM) | 0;
          cycles += words;
          if (o >>> 0 > sramSize - 4 * words) {
            this.#load(r[13], 4, begun + cycles * perCycle);
            budget = 0;
            break;
          }
          r[13] += 4 * words;
          o >>= 2;
          for (let i = 0, list = opcode & 0xff; list; i++, list >>= 1) if (list & 1) r[i] = sram32[o++];
          if (opcode & 0x100) {
            const target = sram32[o];
            cycles += 2;
            if (target >>> 28 === 15 && core.currentMode === HANDLER_MODE) {
              pc = this.#returnFromException(target, n, z, c, v);
              ({ n, z, c, v } = this.#flags());
              budget = 0;
            } else pc = target & ~1;
          }
          break;
        }
        case 58: { // REV
          const value = r[(opcode >> 3) & 7];
          r[opcode & 7] = (value << 24) | ((value & 0xff00) << 8) | ((value >> 8) & 0xff00) | (value >>> 24);
          break;
        }
        case 59: { // REV16
          const value = r[(opcode >> 3) & 7];
          r[opcode & 7] = ((value & 0x00ff00ff) << 8) | ((value >> 8) & 0x00ff00ff);
          break;
        }
        case 60: { // REVSH
          const value = r[(opcode >> 3) & 7];
          r[opcode & 7] = ((value << 24) >> 16) | ((value >> 8) & 0xff);
          break;
        }
        case 61: // CPSID i
          core.PM = true;
          break;
        case 62: // CPSIE i
          core.PM = false;
          core.interruptsUpdated = true;
          budget = 0;
          break;
        case 63: // NOP
          break;
        case 64: // WFE
          cycles++;
          if (core.eventRegistered) core.eventRegistered = false;
          else {
            core.waiting = true;
            budget = 0;
          }
          break;
        case 65: // SEV: the package leaves it out
          core.eventRegistered = true;
          break;
        case 66: { // STM Rn!, {list}
          const b = (opcode >> 8) & 7;
          let address = r[b];
          for (let i = 0, list = opcode & 0xff; list; i++, list >>= 1) {
            if (!(list & 1)) continue;
            const inSram = (address - SRAM) | 0;
            if (inSram >>> 0 < sramSize && (inSram & 3) === 0) sram32[inSram >> 2] = r[i];
            else {
              this.#store(address, 4, r[i], begun + (cycles - 1) * perCycle);
              budget = 0;
            }
            address += 4;
            cycles++;
          }
          r[b] = address;
          break;
        }
        case 67: { // LDM Rn!, {list}
          const b = (opcode >> 8) & 7;
          let address = r[b];
          for (let i = 0, list = opcode & 0xff; list; i++, list >>= 1) {
            if (!(list & 1)) continue;
            const inSram = (address - SRAM) | 0;
            const inFlash = (address - FLASH) | 0;
            if (inSram >>> 0 < sramSize && (inSram & 3) === 0) r[i] = sram32[inSram >> 2];
            else if (inFlash >>> 0 < flashSize && (inFlash & 3) === 0) r[i] = flash32[inFlash >> 2];
            else {
              r[i] = this.#load(address, 4, begun + (cycles - 1) * perCycle);
              budget = 0;
            }
            address += 4;
            cycles++;
          }
          if (!(opcode & (1 << b))) r[b] = address;
          break;
        }
        case 68: // BEQ
          if (z === 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 69: // BNE
          if (z !== 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 70: // BCS
          if (c !== 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 71: // BCC
          if (c === 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 72: // BMI
          if (n < 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 73: // BPL
          if (n >= 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 74: // BVS
          if (v < 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 75: // BVC
          if (v >= 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 76: // BHI
          if (c !== 0 && z !== 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 77: // BLS
          if (c === 0 || z === 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 78: // BGE
          if ((n ^ v) >= 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 79: // BLT
          if ((n ^ v) < 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 80: // BGT
          if (z !== 0 && (n ^ v) >= 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 81: // BLE
          if (z === 0 || (n ^ v) < 0) { pc += 2 + ((opcode << 24) >> 23); cycles++; }
          break;
        case 82: // B
          pc += 2 + ((opcode << 21) >> 20);
          cycles++;
          break;
        case 83: { // 32 bits
          let second;
          if ((pc & 0xff000000) === FLASH) second = flash16[(pc & 0xffffff) >> 1];
          else second = rp.readUint16(pc >>> 0);
          if ((second & 0xd000) === 0xd000) { // BL
            const s = (opcode >> 10) & 1;
            const high = s ? 0xff000000 : 0;
            const i1 = ((second >> 13) & 1) === s ? 1 << 23 : 0;
            const i2 = ((second >> 11) & 1) === s ? 1 << 22 : 0;
            r[14] = (pc + 2) | 1;
            pc = (pc + 2 + (high | i1 | i2 | ((opcode & 0x3ff) << 12) | ((second & 0x7ff) << 1))) | 0;
            cycles += 2;
            break;
          }
          if (opcode === 0xf3ef && (second & 0xf0ff) === 0x8010) { // MRS Rd, PRIMASK
            r[(second >> 8) & 15] = core.PM ? 1 : 0;
            pc += 2;
            cycles += 2;
            break;
          }
          if (opcode === 0xf3bf && (second & 0xff00) === 0x8f00) { // DMB, DSB, ISB
            pc += 2;
            cycles += 2;
            break;
          }
        }
        // falls through: everything that is not above
        default:
          r[15] = pc - 2;
          this.#keep(n, z, c, v);
          rp.clock.nanosCounter = begun + (cycles - 1) * perCycle;
          cycles += core.executeInstruction() - 1;
          pc = r[15];
          ({ n, z, c, v } = this.#flags());
          budget = 0;
      }
    }
    r[15] = pc;
    this.#keep(n, z, c, v);
    this.instructions += count;
    return cycles;
  }

  #keep(n, z, c, v) {
    const { core } = this.rp;
    core.N = n < 0;
    core.Z = z === 0;
    core.C = c !== 0;
    core.V = v < 0;
  }

  #flags() {
    const { N, Z, C, V } = this.rp.core;
    return { n: N ? -1 : 0, z: Z ? 0 : 1, c: C ? 1 : 0, v: V ? -1 : 0 };
  }

  #returnFromException(target, n, z, c, v) {
    this.#keep(n, z, c, v);
    this.rp.core.exceptionReturn(target & 0x0fffffff);
    return this.registers[15] & ~1;
  }
}

/** How many bits are set, for register lists. */
const ONES = Uint8Array.from({ length: 0x200 }, (_, list) => {
  let ones = 0;
  for (; list; list &= list - 1) ones++;
  return ones;
});

/** Cycles an access waits: none at the core's own I/O port, `apb` at the slow peripherals, one elsewhere. */
function waits(address, apb) {
  const region = address >>> 28;
  return region === 0xd ? 0 : region === 4 ? apb : 1;
}
