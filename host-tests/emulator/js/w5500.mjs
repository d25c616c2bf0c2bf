// WIZnet W5500, as much of it as a driver in MACRAW mode sees: SPI frames with address, control byte and data; the common
// registers and those of socket 0; its two buffers; the INT pin.
//
// Two things are modelled at their worst on purpose. The receive interrupt is a latch that is set when a frame arrives, and not
// again because frames are left after a RECV command. Drivers that read one frame per interrupt get stuck on the true chip
// in the same way. And a frame longer than Ethernet allows is taken in as long as there is room: nobody says what the true
// chip does.

const MACRAW = 4;
const SOCKET_MACRAW = 0x42;
const CHIP_VERSION = 4;

// Common registers.
const MODE = 0x00;
const SOCKET_MAC = 0x09;
const SOCKET_INTERRUPT = 0x17;
const SOCKET_INTERRUPT_MASK = 0x18;
const PHY = 0x2e;
const VERSION = 0x39;
const COMMON_SIZE = 0x40;

// Registers of a socket.
const SN_MODE = 0x00;
const SN_COMMAND = 0x01;
const SN_INTERRUPT = 0x02;
const SN_STATUS = 0x03;
const SN_RX_SIZE = 0x1e;
const SN_TX_SIZE = 0x1f;
const SN_TX_FREE = 0x20;
const SN_TX_READ = 0x22;
const SN_TX_WRITE = 0x24;
const SN_RX_RECEIVED = 0x26;
const SN_RX_READ = 0x28;
const SN_RX_WRITE = 0x2a;
const SN_INTERRUPT_MASK = 0x2c;
const SN_SIZE = 0x30;

// Bits of SN_MODE in MACRAW, of SN_INTERRUPT, and the commands.
const MAC_FILTER = 0x80;
const BLOCK_MULTICAST = 0x20;
const RECEIVED = 0x04;
const SENT = 0x10;
const OPEN = 0x01;
const CLOSE = 0x10;
const SEND = 0x20;
const RECEIVE = 0x40;

/** The longest frame on the wire, without its checksum. */
const FRAME_MAX = 1514;
const BUFFER = 16384;
/** How many data bytes the control byte's mode bits stand for. */
const DATA_LENGTH = [Infinity, 1, 2, 4];
/** PHYCFGR of a 100 Mbit/s full-duplex link: bit 0 is the link, 1 and 2 the speed and duplex found. */
const PHY_UP = 0xbf;
const PHY_DOWN = 0xb8;

export class W5500 {
  #phase = 0;
  #address = 0;
  #control = 0;
  #left = 0;
  #selected = false;

  /** `onFrame(bytes)`: a frame goes out. `onInterrupt(high)`: the level of the INT pin. */
  constructor({ onFrame, onInterrupt }) {
    this.onFrame = onFrame;
    this.onInterrupt = onInterrupt;
    /** Frames out and in; frames lost because the buffer was full; frames not for us. */
    this.statistics = { sent: 0, received: 0, overrun: 0, filtered: 0 };
    this.linkUp = true;
    this.interruptHigh = true;
    this.reset();
  }

  /** The RST pin, or the power. */
  reset() {
    this.common = new Uint8Array(COMMON_SIZE);
    this.socket = new Uint8Array(SN_SIZE);
    this.common[VERSION] = CHIP_VERSION;
    this.socket[SN_RX_SIZE] = this.socket[SN_TX_SIZE] = 2;
    this.socket[SN_INTERRUPT_MASK] = 0xff;
    this.tx = new Uint8Array(BUFFER);
    this.rx = new Uint8Array(BUFFER);
    this.#close();
    this.#updateInterrupt();
  }

  /** The CS pin: each selection begins a new SPI frame. */
  select(active) {
    this.#selected = active;
    this.#phase = 0;
  }

  /** One byte in each direction. */
  exchange(byte) {
    if (!this.#selected) return 0xff;
    switch (this.#phase) {
      case 0:
        this.#address = byte << 8;
        this.#phase = 1;
        return 1;
      case 1:
        this.#address |= byte;
        this.#phase = 2;
        return 2;
      case 2:
        this.#control = byte;
        this.#left = DATA_LENGTH[byte & 3];
        this.#phase = 3;
        return 3;
    }
    if (this.#left === 0) return 0;
    this.#left--;
    const address = this.#address;
    this.#address = (address + 1) & 0xffff;
    if ((this.#control & 4) === 0) return this.#read(this.#control >> 3, address);
    this.#write(this.#control >> 3, address, byte);
    return 0;
  }

  /** A frame comes in from the wire. */
  receive(frame) {
    if (this.socket[SN_STATUS] !== SOCKET_MACRAW || !this.linkUp) return;
    if (!this.#accepts(frame)) {
      this.statistics.filtered++;
      return;
    }
    const length = frame.length + 2;
    if (this.#received + length > this.#rxSize) {
      this.statistics.overrun++;
      return;
    }
    const mask = this.#rxSize - 1;
    let at = this.rxWrite;
    this.rx[at++ & mask] = length >> 8;
    this.rx[at++ & mask] = length & 0xff;
    for (let i = 0; i < frame.length; i++) this.rx[at++ & mask] = frame[i];
    this.rxWrite = at & 0xffff;
    this.statistics.received++;
    this.#raise(RECEIVED);
  }

  get #rxSize() {
    return this.socket[SN_RX_SIZE] * 1024;
  }

  get #txSize() {
    return this.socket[SN_TX_SIZE] * 1024;
  }

  get #received() {
    return (this.rxWrite - this.rxRead) & 0xffff;
  }

  #accepts(frame) {
    const mode = this.socket[SN_MODE];
    if (!(mode & MAC_FILTER)) return true;
    const to = frame.subarray(0, 6);
    if (to.every((byte) => byte === 0xff)) return true;
    if (to[0] & 1) return !(mode & BLOCK_MULTICAST);
    return to.every((byte, i) => byte === this.common[SOCKET_MAC + i]);
  }

  #raise(bit) {
    this.socket[SN_INTERRUPT] |= bit;
    this.#updateInterrupt();
  }

  #updateInterrupt() {
    this.common[SOCKET_INTERRUPT] = this.socket[SN_INTERRUPT] & this.socket[SN_INTERRUPT_MASK] ? 1 : 0;
    const high = (this.common[SOCKET_INTERRUPT] & this.common[SOCKET_INTERRUPT_MASK]) === 0;
    if (high === this.interruptHigh) return;
    this.interruptHigh = high;
    this.onInterrupt(high);
  }

  #read(block, address) {
    switch (block) {
      case 0:
        if (address === PHY) return this.linkUp ? PHY_UP : PHY_DOWN;
        return address < COMMON_SIZE ? this.common[address] : 0;
      case 1:
        return this.#readSocket(address);
      case 2:
        return this.tx[address & (this.#txSize - 1)];
      case 3:
        return this.rx[address & (this.#rxSize - 1)];
      default: // Sockets 1 to 7 stay closed.
        return 0;
    }
  }

  #readSocket(address) {
    if (address < SN_TX_FREE || address >= SN_INTERRUPT_MASK) return address < SN_SIZE ? this.socket[address] : 0;
    const pointer = this.#pointer(address & ~1);
    return address & 1 ? pointer & 0xff : pointer >> 8;
  }

  #pointer(address) {
    switch (address) {
      case SN_TX_FREE: return this.#txSize - ((this.txWrite - this.txRead) & 0xffff);
      case SN_TX_READ: return this.txRead;
      case SN_TX_WRITE: return this.txWrite;
      case SN_RX_RECEIVED: return this.#received;
      case SN_RX_READ: return this.rxReadWritten;
      default: return this.rxWrite;
    }
  }

  #write(block, address, byte) {
    switch (block) {
      case 0:
        if (address === MODE && byte & 0x80) this.reset();
        else if (address < PHY && address !== SOCKET_INTERRUPT) this.common[address] = byte;
        this.#updateInterrupt();
        return;
      case 1:
        this.#writeSocket(address, byte);
        return;
      case 2:
        this.tx[address & (this.#txSize - 1)] = byte;
    }
  }

  #writeSocket(address, byte) {
    switch (address) {
      case SN_COMMAND:
        this.#command(byte);
        return;
      case SN_INTERRUPT: // Writing a one clears it.
        this.socket[SN_INTERRUPT] &= ~byte;
        break;
      case SN_TX_WRITE:
        this.txWrite = (this.txWrite & 0xff) | (byte << 8);
        break;
      case SN_TX_WRITE + 1:
        this.txWrite = (this.txWrite & 0xff00) | byte;
        break;
      case SN_RX_READ:
        this.rxReadWritten = (this.rxReadWritten & 0xff) | (byte << 8);
        break;
      case SN_RX_READ + 1:
        this.rxReadWritten = (this.rxReadWritten & 0xff00) | byte;
        break;
      default: // The other pointers and the status are read-only.
        if (address < SN_SIZE && address !== SN_STATUS && (address < SN_TX_FREE || address >= SN_INTERRUPT_MASK)) {
          this.socket[address] = byte;
        }
    }
    this.#updateInterrupt();
  }

  #command(command) {
    if (command === OPEN) {
      this.#close();
      if ((this.socket[SN_MODE] & 15) === MACRAW) this.socket[SN_STATUS] = SOCKET_MACRAW;
    } else if (command === CLOSE) {
      this.#close();
    } else if (command === SEND && this.socket[SN_STATUS] === SOCKET_MACRAW) {
      this.#send();
    } else if (command === RECEIVE) {
      this.rxRead = this.rxReadWritten;
    }
  }

  #close() {
    this.socket[SN_STATUS] = 0;
    this.txRead = this.txWrite = this.rxRead = this.rxReadWritten = this.rxWrite = 0;
  }

  #send() {
    const length = (this.txWrite - this.txRead) & 0xffff;
    const frame = new Uint8Array(length);
    for (let i = 0; i < length; i++) frame[i] = this.tx[(this.txRead + i) & (this.#txSize - 1)];
    this.txRead = this.txWrite;
    this.#raise(SENT);
    if (length > FRAME_MAX || !this.linkUp) return;
    this.statistics.sent++;
    this.onFrame(frame);
  }
}
