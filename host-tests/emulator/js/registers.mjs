// A peripheral for the rp2040js package made of two functions, `read(offset)` and `write(offset, value, bits)`. Like every
// peripheral of the chip it has three aliases that flip, set and clear bits; `bits` is what was really written.

const FLIP = 1;
const SET = 2;
const CLEAR = 3;

export function registers(read, write) {
  return {
    readUint32: (offset) => read(offset & 0xfff) >>> 0,
    writeUint32: (offset, value) => write(offset, value >>> 0, value >>> 0),
    writeUint32Atomic(offset, bits, alias) {
      let value = bits;
      if (alias === FLIP) value = read(offset) ^ bits;
      else if (alias === SET) value = read(offset) | bits;
      else if (alias === CLEAR) value = read(offset) & ~bits;
      write(offset, value >>> 0, bits >>> 0);
    },
  };
}
