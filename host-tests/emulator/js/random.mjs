// Random numbers that are the same in every run with the same seed (xorshift32).

export class Random {
  constructor(seed) {
    this.state = (seed ^ 0x9e3779b9) | 0 || 1;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** 32 random bits, as an integer of either sign. */
  next() {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (this.state = x);
  }

  /** At least 0, less than 1. */
  fraction() {
    return (this.next() >>> 0) / 2 ** 32;
  }

  fill(bytes) {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.next() >>> 11;
  }
}
