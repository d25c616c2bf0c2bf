// Thumb instructions: which one a halfword is, and a loop that executes them.
//
// The loop knows registers, flags, SRAM and flash. Everything else it asks for: `load` and `store` for the rest of the address space,
// `fetch` for code there, `rare` for instructions it does not know, `leave` for the end of an exception, `wfe` and `sev`.

/** `case` 0: left to the package. */
const RARE = 0;

/** The instruction each halfword begins: the numbers of the `case`s below. */
export const DECODED = Uint8Array.from({ length: 0x10000 }, (_, opcode) => decode(opcode));

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

/** How many bits are set, for register lists. */
export const ONES = Uint8Array.from({ length: 0x200 }, (_, list) => {
  let ones = 0;
  for (; list; list &= list - 1) ones++;
  return ones;
});

/**
 * The loop itself, in the subset of JavaScript called asm.js: Node.js compiles it to machine code before it runs, and an engine that
 * knows nothing of that runs it as what it is. Hence the style: `| 0` says "a 32-bit integer", `<< 2 >> 2` "the word with this
 * number", and everything is in one buffer (memory.mjs), by number:
 *
 *     words 0 to 15 registers, 16 to 23 cells; bytes from 0x10000 decoded, 0x20000 ones, 0x100000 SRAM, 0x200000 flash
 *
 * N is the sign of `n`, Z says that `z` is zero, C is 0 or 1, V is the sign of `v`.
 */
export function Loop(stdlib, foreign, heap) {
  'use asm';
  var U8 = new stdlib.Uint8Array(heap);
  var U16 = new stdlib.Uint16Array(heap);
  var I32 = new stdlib.Int32Array(heap);
  var imul = stdlib.Math.imul;
  var load = foreign.load;
  var store = foreign.store;
  var fetch = foreign.fetch;
  var rare = foreign.rare;
  var leave = foreign.leave;
  var wfe = foreign.wfe;
  var sev = foreign.sev;

  /** Cycles an access waits: none at the core's own I/O port, `apb` at the slow peripherals, one elsewhere. */
  function wait(address, apb) {
    address = address | 0;
    apb = apb | 0;
    if ((address >>> 28) == 13) return 0;
    if ((address >>> 28) == 4) return apb | 0;
    return 1;
  }

  /** Executes until as many cycles are spent as the budget says, and says how many. */
  function execute() {
    var pc = 0, n = 0, z = 0, c = 0, v = 0, cycles = 0, budget = 0, count = 0;
    var opcode = 0, a = 0, b = 0, x = 0, d = 0, t = 0, unknown = 0;
    pc = I32[15] & ~1;
    n = I32[16] | 0;
    z = I32[17] | 0;
    c = I32[18] | 0;
    v = I32[19] | 0;
    budget = I32[21] | 0;

    while ((cycles | 0) < (budget | 0)) {
      if ((pc & 0xffe00000) == 0x10000000) opcode = U16[(0x200000 + (pc & 0x1fffff)) >> 1] | 0;
      else {
        t = (pc - 0x20000000) | 0;
        if ((t >>> 0) < 0x42000) opcode = U16[(0x100000 + t) >> 1] | 0;
        else opcode = fetch(pc | 0, cycles | 0) | 0;
      }
      pc = (pc + 2) | 0;
      count = (count + 1) | 0;
      cycles = (cycles + 1) | 0;

      switch (U8[(0x10000 + opcode) | 0] | 0) {
        case 1: // LSLS Rd, Rm, #imm5
          b = (opcode >> 6) & 31;
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          if (b) c = (a >>> ((32 - b) | 0)) & 1;
          x = a << b;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 2: // LSRS Rd, Rm, #imm5
          b = (opcode >> 6) & 31;
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          c = (a >>> ((b - 1) & 31)) & 1;
          x = b ? (a >>> b) | 0 : 0;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 3: // ASRS Rd, Rm, #imm5
          b = (opcode >> 6) & 31;
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          c = (a >>> ((b - 1) & 31)) & 1;
          x = a >> (b ? b : 31);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 4: // ADDS Rd, Rn, Rm
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 6) & 7) << 2 >> 2] | 0;
          x = (a + b) | 0;
          c = ((a & b) | ((a | b) & ~x)) >>> 31;
          v = (a ^ x) & (b ^ x);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 5: // SUBS Rd, Rn, Rm
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 6) & 7) << 2 >> 2] | 0;
          x = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~x)) >>> 31;
          v = (a ^ b) & (a ^ x);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 6: // ADDS Rd, Rn, #imm3
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          b = (opcode >> 6) & 7;
          x = (a + b) | 0;
          c = ((a & b) | ((a | b) & ~x)) >>> 31;
          v = (a ^ x) & (b ^ x);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 7: // SUBS Rd, Rn, #imm3
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          b = (opcode >> 6) & 7;
          x = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~x)) >>> 31;
          v = (a ^ b) & (a ^ x);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 8: // MOVS Rd, #imm8
          x = opcode & 0xff;
          I32[((opcode >> 8) & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 9: // CMP Rn, #imm8
          a = I32[((opcode >> 8) & 7) << 2 >> 2] | 0;
          b = opcode & 0xff;
          x = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~x)) >>> 31;
          v = (a ^ b) & (a ^ x);
          n = x; z = x;
          break;
        case 10: // ADDS Rdn, #imm8
          a = I32[((opcode >> 8) & 7) << 2 >> 2] | 0;
          b = opcode & 0xff;
          x = (a + b) | 0;
          c = ((a & b) | ((a | b) & ~x)) >>> 31;
          v = (a ^ x) & (b ^ x);
          I32[((opcode >> 8) & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 11: // SUBS Rdn, #imm8
          a = I32[((opcode >> 8) & 7) << 2 >> 2] | 0;
          b = opcode & 0xff;
          x = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~x)) >>> 31;
          v = (a ^ b) & (a ^ x);
          I32[((opcode >> 8) & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 12: // ANDS Rdn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = a & b;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 13: // EORS Rdn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = a ^ b;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 14: // LSLS Rdn, Rm
          b = I32[((opcode >> 3) & 7) << 2 >> 2] & 0xff;
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          if (b) c = (b | 0) > 32 ? 0 : (a >>> ((32 - b) | 0)) & 1;
          x = (b | 0) < 32 ? a << b : 0;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 15: // LSRS Rdn, Rm
          b = I32[((opcode >> 3) & 7) << 2 >> 2] & 0xff;
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          if (b) c = (b | 0) > 32 ? 0 : (a >>> ((b - 1) | 0)) & 1;
          x = (b | 0) < 32 ? (a >>> b) | 0 : 0;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 16: // ASRS Rdn, Rm
          b = I32[((opcode >> 3) & 7) << 2 >> 2] & 0xff;
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          if (b) c = (a >> ((b | 0) > 32 ? 31 : (b - 1) | 0)) & 1;
          x = a >> ((b | 0) > 31 ? 31 : b);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 17: // ADCS Rdn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = (a + b + c) | 0;
          c = ((a & b) | ((a | b) & ~x)) >>> 31;
          v = (a ^ x) & (b ^ x);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 18: // SBCS Rdn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = ~I32[((opcode >> 3) & 7) << 2 >> 2];
          x = (a + b + c) | 0;
          c = ((a & b) | ((a | b) & ~x)) >>> 31;
          v = (a ^ x) & (b ^ x);
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 19: // RORS Rdn, Rm
          b = I32[((opcode >> 3) & 7) << 2 >> 2] & 0xff;
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          x = (a >>> (b & 31)) | (a << ((0 - b) & 31));
          if (b) c = x >>> 31;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 20: // TST Rn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          x = a & I32[((opcode >> 3) & 7) << 2 >> 2];
          n = x; z = x;
          break;
        case 21: // RSBS Rd, Rn, #0
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = (0 - b) | 0;
          c = (b | 0) == 0;
          v = b & x;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 22: // CMP Rn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~x)) >>> 31;
          v = (a ^ b) & (a ^ x);
          n = x; z = x;
          break;
        case 23: // CMN Rn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = (a + b) | 0;
          c = ((a & b) | ((a | b) & ~x)) >>> 31;
          v = (a ^ x) & (b ^ x);
          n = x; z = x;
          break;
        case 24: // ORRS Rdn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = a | b;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 25: // MULS Rdm, Rn
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = imul(a, b) | 0;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 26: // BICS Rdn, Rm
          a = I32[(opcode & 7) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          x = a & ~b;
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 27: // MVNS Rd, Rm
          x = ~I32[((opcode >> 3) & 7) << 2 >> 2];
          I32[(opcode & 7) << 2 >> 2] = x;
          n = x; z = x;
          break;
        case 28: // ADD Rdn, Rm, with any registers
          d = ((opcode >> 4) & 8) | (opcode & 7);
          t = (opcode >> 3) & 15;
          a = (d | 0) == 15 ? (pc + 2) | 0 : I32[d << 2 >> 2] | 0;
          b = (t | 0) == 15 ? (pc + 2) | 0 : I32[t << 2 >> 2] | 0;
          x = (a + b) | 0;
          if ((d | 0) == 15) {
            pc = x & ~1;
            cycles = (cycles + 1) | 0;
          } else {
            if ((d | 0) == 13) x = x & ~3;
            I32[d << 2 >> 2] = x;
          }
          break;
        case 29: // CMP Rn, Rm, with any registers
          a = I32[(((opcode >> 4) & 8) | (opcode & 7)) << 2 >> 2] | 0;
          b = I32[((opcode >> 3) & 15) << 2 >> 2] | 0;
          x = (a - b) | 0;
          c = ((a & ~b) | ((a | ~b) & ~x)) >>> 31;
          v = (a ^ b) & (a ^ x);
          n = x; z = x;
          break;
        case 30: // MOV Rd, Rm, with any registers
          d = ((opcode >> 4) & 8) | (opcode & 7);
          t = (opcode >> 3) & 15;
          x = (t | 0) == 15 ? (pc + 2) | 0 : I32[t << 2 >> 2] | 0;
          if ((d | 0) == 15) {
            pc = x & ~1;
            cycles = (cycles + 1) | 0;
          } else {
            if ((d | 0) == 13) x = x & ~3;
            I32[d << 2 >> 2] = x;
          }
          break;
        case 31: // BX Rm, BLX Rm
          x = I32[((opcode >> 3) & 15) << 2 >> 2] | 0;
          cycles = (cycles + 1) | 0;
          if (opcode & 0x80) I32[14] = pc | 1;
          else if ((x >>> 28) == 15) {
            I32[16] = n;
            I32[17] = z;
            I32[18] = c;
            I32[19] = v;
            if (leave(x | 0) | 0) {
              I32[22] = (I32[22] | 0) + count;
              return cycles | 0;
            }
          }
          pc = x & ~1;
          break;
        case 32: // LDR Rt, [PC, #imm8]
          a = ((((pc + 2) | 0) & ~3) + ((opcode & 0xff) << 2)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) x = I32[(0x100000 + t) >> 2] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 3) == 0)) x = I32[(0x200000 + t) >> 2] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 4, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[((opcode >> 8) & 7) << 2 >> 2] = x;
          break;
        case 33: // STR Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          x = I32[(opcode & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) {
            I32[(0x100000 + t) >> 2] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 4, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 34: // STRH Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          x = I32[(opcode & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 1) == 0)) {
            U16[(0x100000 + t) >> 1] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 2, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 35: // STRB Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          x = I32[(opcode & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) < 0x42000) {
            U8[(0x100000 + t) | 0] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 1, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 36: // LDRSB Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) < 0x42000) x = U8[(0x100000 + t) | 0] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if ((t >>> 0) < 0x200000) x = U8[(0x200000 + t)] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 1, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          x = (x << 24) >> 24;
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 37: // LDR Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) x = I32[(0x100000 + t) >> 2] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 3) == 0)) x = I32[(0x200000 + t) >> 2] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 4, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 38: // LDRH Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 1) == 0)) x = U16[(0x100000 + t) >> 1] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 1) == 0)) x = U16[(0x200000 + t) >> 1] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 2, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 39: // LDRB Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) < 0x42000) x = U8[(0x100000 + t) | 0] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if ((t >>> 0) < 0x200000) x = U8[(0x200000 + t)] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 1, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 40: // LDRSH Rt, [Rn, Rm]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + (I32[((opcode >> 6) & 7) << 2 >> 2] | 0)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 1) == 0)) x = U16[(0x100000 + t) >> 1] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 1) == 0)) x = U16[(0x200000 + t) >> 1] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 2, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          x = (x << 16) >> 16;
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 41: // STR Rt, [Rn, #imm5]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + ((opcode >> 4) & 0x7c)) | 0;
          x = I32[(opcode & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) {
            I32[(0x100000 + t) >> 2] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 4, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 42: // LDR Rt, [Rn, #imm5]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + ((opcode >> 4) & 0x7c)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) x = I32[(0x100000 + t) >> 2] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 3) == 0)) x = I32[(0x200000 + t) >> 2] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 4, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 43: // STRB Rt, [Rn, #imm5]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + ((opcode >> 6) & 0x1f)) | 0;
          x = I32[(opcode & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) < 0x42000) {
            U8[(0x100000 + t) | 0] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 1, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 44: // LDRB Rt, [Rn, #imm5]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + ((opcode >> 6) & 0x1f)) | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) < 0x42000) x = U8[(0x100000 + t) | 0] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if ((t >>> 0) < 0x200000) x = U8[(0x200000 + t)] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 1, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 45: // STRH Rt, [Rn, #imm5]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + ((opcode >> 5) & 0x3e)) | 0;
          x = I32[(opcode & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 1) == 0)) {
            U16[(0x100000 + t) >> 1] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 2, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 46: // LDRH Rt, [Rn, #imm5]
          a = ((I32[((opcode >> 3) & 7) << 2 >> 2] | 0) + ((opcode >> 5) & 0x3e)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 1) == 0)) x = U16[(0x100000 + t) >> 1] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 1) == 0)) x = U16[(0x200000 + t) >> 1] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 2, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[(opcode & 7) << 2 >> 2] = x;
          break;
        case 47: // STR Rt, [SP, #imm8]
          a = ((I32[13] | 0) + ((opcode & 0xff) << 2)) | 0;
          x = I32[((opcode >> 8) & 7) << 2 >> 2] | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) {
            I32[(0x100000 + t) >> 2] = x;
            cycles = (cycles + 1) | 0;
          } else {
            store(a | 0, 4, x | 0, cycles | 0);
            cycles = (cycles + (wait(a, 4) | 0)) | 0;
            budget = I32[21] | 0;
          }
          break;
        case 48: // LDR Rt, [SP, #imm8]
          a = ((I32[13] | 0) + ((opcode & 0xff) << 2)) | 0;
          t = (a - 0x20000000) | 0;
          if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) x = I32[(0x100000 + t) >> 2] | 0;
          else {
            t = (a - 0x10000000) | 0;
            if (((t >>> 0) < 0x200000) & ((a & 3) == 0)) x = I32[(0x200000 + t) >> 2] | 0;
            else t = -1;
          }
          if ((t | 0) >= 0) cycles = (cycles + 1) | 0;
          else {
            x = load(a | 0, 4, cycles | 0) | 0;
            cycles = (cycles + (wait(a, 3) | 0)) | 0;
            budget = I32[21] | 0;
          }
          I32[((opcode >> 8) & 7) << 2 >> 2] = x;
          break;
        case 49: // ADR Rd, label
          I32[((opcode >> 8) & 7) << 2 >> 2] = ((((pc + 2) | 0) & ~3) + ((opcode & 0xff) << 2)) | 0;
          break;
        case 50: // ADD Rd, SP, #imm8
          I32[((opcode >> 8) & 7) << 2 >> 2] = ((I32[13] | 0) + ((opcode & 0xff) << 2)) | 0;
          break;
        case 51: // ADD SP, #imm7; SUB SP, #imm7
          x = (opcode & 0x7f) << 2;
          if (opcode & 0x80) x = (0 - x) | 0;
          I32[13] = ((I32[13] | 0) + x) | 0;
          break;
        case 52: // SXTH Rd, Rm
          I32[(opcode & 7) << 2 >> 2] = (I32[((opcode >> 3) & 7) << 2 >> 2] << 16) >> 16;
          break;
        case 53: // SXTB Rd, Rm
          I32[(opcode & 7) << 2 >> 2] = (I32[((opcode >> 3) & 7) << 2 >> 2] << 24) >> 24;
          break;
        case 54: // UXTH Rd, Rm
          I32[(opcode & 7) << 2 >> 2] = I32[((opcode >> 3) & 7) << 2 >> 2] & 0xffff;
          break;
        case 55: // UXTB Rd, Rm
          I32[(opcode & 7) << 2 >> 2] = I32[((opcode >> 3) & 7) << 2 >> 2] & 0xff;
          break;
        case 56: // PUSH
          b = U8[(0x20000 + (opcode & 0x1ff)) | 0] | 0;
          a = ((I32[13] | 0) - (b << 2)) | 0;
          I32[13] = a;
          cycles = (cycles + b) | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) > ((0x42000 - (b << 2)) >>> 0)) {
            store(a | 0, 4, 0, cycles | 0);
            budget = 0;
            break;
          }
          t = (t + 0x100000) | 0;
          x = opcode & 0xff;
          for (d = 0; x; d = (d + 1) | 0) {
            if (x & 1) {
              I32[t >> 2] = I32[d << 2 >> 2];
              t = (t + 4) | 0;
            }
            x = x >> 1;
          }
          if (opcode & 0x100) I32[t >> 2] = I32[14];
          break;
        case 57: // POP
          b = U8[(0x20000 + (opcode & 0x1ff)) | 0] | 0;
          a = I32[13] | 0;
          cycles = (cycles + b) | 0;
          t = (a - 0x20000000) | 0;
          if ((t >>> 0) > ((0x42000 - (b << 2)) >>> 0)) {
            load(a | 0, 4, cycles | 0) | 0;
            budget = 0;
            break;
          }
          I32[13] = (a + (b << 2)) | 0;
          t = (t + 0x100000) | 0;
          x = opcode & 0xff;
          for (d = 0; x; d = (d + 1) | 0) {
            if (x & 1) {
              I32[d << 2 >> 2] = I32[t >> 2];
              t = (t + 4) | 0;
            }
            x = x >> 1;
          }
          if (opcode & 0x100) {
            x = I32[t >> 2] | 0;
            cycles = (cycles + 2) | 0;
            if ((x >>> 28) == 15) {
              I32[16] = n;
              I32[17] = z;
              I32[18] = c;
              I32[19] = v;
              if (leave(x | 0) | 0) {
                I32[22] = (I32[22] | 0) + count;
                return cycles | 0;
              }
            }
            pc = x & ~1;
          }
          break;
        case 58: // REV Rd, Rm
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          I32[(opcode & 7) << 2 >> 2] = (a << 24) | ((a & 0xff00) << 8) | ((a >> 8) & 0xff00) | (a >>> 24);
          break;
        case 59: // REV16 Rd, Rm
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          I32[(opcode & 7) << 2 >> 2] = ((a & 0x00ff00ff) << 8) | ((a >> 8) & 0x00ff00ff);
          break;
        case 60: // REVSH Rd, Rm
          a = I32[((opcode >> 3) & 7) << 2 >> 2] | 0;
          I32[(opcode & 7) << 2 >> 2] = ((a << 24) >> 16) | ((a >> 8) & 0xff);
          break;
        case 61: // CPSID i
          I32[20] = 1;
          break;
        case 62: // CPSIE i
          I32[20] = 0;
          if (I32[23] | 0) budget = 0;
          break;
        case 63: // NOP
          break;
        case 64: // WFE
          cycles = (cycles + 1) | 0;
          if (wfe() | 0) budget = 0;
          break;
        case 65: // SEV
          sev();
          break;
        case 66: // STM Rn!, {list}
          d = (opcode >> 8) & 7;
          a = I32[d << 2 >> 2] | 0;
          x = opcode & 0xff;
          for (b = 0; x; b = (b + 1) | 0) {
            if (x & 1) {
              t = (a - 0x20000000) | 0;
              if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) I32[(0x100000 + t) >> 2] = I32[b << 2 >> 2];
              else {
                store(a | 0, 4, I32[b << 2 >> 2] | 0, cycles | 0);
                budget = I32[21] | 0;
              }
              a = (a + 4) | 0;
              cycles = (cycles + 1) | 0;
            }
            x = x >> 1;
          }
          I32[d << 2 >> 2] = a;
          break;
        case 67: // LDM Rn!, {list}
          d = (opcode >> 8) & 7;
          a = I32[d << 2 >> 2] | 0;
          x = opcode & 0xff;
          for (b = 0; x; b = (b + 1) | 0) {
            if (x & 1) {
              t = (a - 0x20000000) | 0;
              if (((t >>> 0) < 0x42000) & ((a & 3) == 0)) I32[b << 2 >> 2] = I32[(0x100000 + t) >> 2];
              else {
                t = (a - 0x10000000) | 0;
                if (((t >>> 0) < 0x200000) & ((a & 3) == 0)) I32[b << 2 >> 2] = I32[(0x200000 + t) >> 2];
                else {
                  I32[b << 2 >> 2] = load(a | 0, 4, cycles | 0) | 0;
                  budget = I32[21] | 0;
                }
              }
              a = (a + 4) | 0;
              cycles = (cycles + 1) | 0;
            }
            x = x >> 1;
          }
          if (((opcode >> d) & 1) == 0) I32[d << 2 >> 2] = a;
          break;
        case 68: // BEQ
          if ((z | 0) == 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 69: // BNE
          if ((z | 0) != 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 70: // BCS
          if ((c | 0) != 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 71: // BCC
          if ((c | 0) == 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 72: // BMI
          if ((n | 0) < 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 73: // BPL
          if ((n | 0) >= 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 74: // BVS
          if ((v | 0) < 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 75: // BVC
          if ((v | 0) >= 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 76: // BHI
          if (((c | 0) != 0) & ((z | 0) != 0)) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 77: // BLS
          if (((c | 0) == 0) | ((z | 0) == 0)) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 78: // BGE
          if ((n ^ v | 0) >= 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 79: // BLT
          if ((n ^ v | 0) < 0) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 80: // BGT
          if (((z | 0) != 0) & ((n ^ v | 0) >= 0)) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 81: // BLE
          if (((z | 0) == 0) | ((n ^ v | 0) < 0)) {
            pc = (pc + 2 + ((opcode << 24) >> 23)) | 0;
            cycles = (cycles + 1) | 0;
          }
          break;
        case 82: // B
          pc = (pc + 2 + ((opcode << 21) >> 20)) | 0;
          cycles = (cycles + 1) | 0;
          // A loop of nothing, or of one NOP, goes on until something from outside ends it. Time may just as well jump there.
          if ((opcode | 0) == 0xe7fd) opcode = (U16[(0x200000 + (pc & 0x1fffff)) >> 1] | 0) == 0xbf00 ? 0xe7fe : 0;
          if ((opcode | 0) == 0xe7fe) if ((cycles | 0) < (budget | 0)) cycles = budget;
          break;
        case 83: // BL, MRS from PRIMASK, barriers; else rare
          if ((pc & 0xffe00000) == 0x10000000) t = U16[(0x200000 + (pc & 0x1fffff)) >> 1] | 0;
          else t = fetch(pc | 0, cycles | 0) | 0;
          cycles = (cycles + 2) | 0;
          if ((t & 0xd000) == 0xd000) {
            d = (opcode >> 10) & 1;
            x = d ? 0xff000000 : 0;
            if (((t >> 13) & 1) == (d | 0)) x = x | (1 << 23);
            if (((t >> 11) & 1) == (d | 0)) x = x | (1 << 22);
            x = x | ((opcode & 0x3ff) << 12) | ((t & 0x7ff) << 1);
            I32[14] = ((pc + 2) | 0) | 1;
            pc = (pc + 2 + x) | 0;
          } else if (((opcode | 0) == 0xf3ef) & ((t & 0xf0ff) == 0x8010)) {
            I32[((t >> 8) & 15) << 2 >> 2] = I32[20];
            pc = (pc + 2) | 0;
          } else if (((opcode | 0) == 0xf3bf) & ((t & 0xff00) == 0x8f00)) {
            pc = (pc + 2) | 0;
          } else {
            cycles = (cycles - 2) | 0;
            unknown = 1;
          }
          break;
        default:
          unknown = 1;
      }
      if (unknown) {
        I32[15] = (pc - 2) | 0;
        I32[16] = n;
        I32[17] = z;
        I32[18] = c;
        I32[19] = v;
        I32[22] = (I32[22] | 0) + count;
        return (cycles + (rare(cycles | 0) | 0)) | 0;
      }
    }
    I32[15] = pc;
    I32[16] = n;
    I32[17] = z;
    I32[18] = c;
    I32[19] = v;
    I32[22] = (I32[22] | 0) + count;
    return cycles | 0;
  }

  return { execute: execute };
}
