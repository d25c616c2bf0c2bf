// SPI0 with its two DMA channels. The package moves one byte at a time, each with several alarms; here a whole DMA transfer is
// one alarm at the time its last byte is through. Who looks earlier (at a status bit, a counter, by an abort) finds as many
// bytes done as the clock says.

import { registers } from './registers.mjs';

const CONTROL0 = 0x00;
const CONTROL1 = 0x04;
const DATA = 0x08;
const STATUS = 0x0c;
const PRESCALE = 0x10;
const INTERRUPT_MASK = 0x14;
const INTERRUPT_CLEAR = 0x20;
const DMA_CONTROL = 0x24;

const ENABLED = 1 << 1;
const FIFO = 8;

const SPI0_BASE = 0x4003c;
const DREQ_TX = 16;
const DREQ_RX = 17;

const DMA_ABORT = 0x444;
// Bits of a DMA channel's control register.
const DMA_BUSY = 1 << 24;
const DMA_QUIET = 1 << 21;
const DMA_INCREMENT_WRITE = 1 << 5;
const DMA_INCREMENT_READ = 1 << 4;

export class Spi {
  #rp;
  #device;
  #alarm;
  #tx = [];
  #rx = [];
  #since = 0;
  #sending = null;
  #receiving = null;
  #settings = new Map();

  /** Takes the place of the package's SPI0. `device.exchange(byte)` is the other end of the wires. */
  constructor(rp, device) {
    this.#rp = rp;
    this.#device = device;
    this.#alarm = rp.clock.createAlarm(() => this.#look());
    rp.peripherals[SPI0_BASE] = registers((offset) => this.#read(offset), (offset, value) => this.#write(offset, value));
    for (const channel of rp.dma.channels) this.#attend(channel);
    // An abort is over at once here, which is what one reads this register for. The package has it write-only.
    const { dma } = rp;
    const read = dma.readUint32.bind(dma);
    dma.readUint32 = (offset) => (offset === DMA_ABORT ? 0 : read(offset));
  }

  /** Has a DMA channel tell us when it works for SPI0. */
  #attend(channel) {
    const { start, abort, scheduleTransfer, readUint32 } = channel;
    channel.start = () => {
      const wasBusy = channel.ctrl & DMA_BUSY;
      start.call(channel);
      // The package leaves a transfer of no bytes busy for ever.
      if (!wasBusy && channel.active && channel.transCount === 0) this.#finish(channel);
    };
    channel.scheduleTransfer = () => {
      if (channel.treq !== DREQ_TX && channel.treq !== DREQ_RX) return scheduleTransfer.call(channel);
      this.#settle();
      if (channel.treq === DREQ_TX) this.#sending = channel;
      else this.#receiving = channel;
      this.#look();
    };
    channel.abort = () => {
      this.#settle();
      if (this.#sending === channel) this.#sending = null;
      if (this.#receiving === channel) this.#receiving = null;
      abort.call(channel);
      this.#plan();
    };
    channel.readUint32 = (offset) => {
      this.#settle();
      return readUint32.call(channel, offset);
    };
  }

  get #byteTime() {
    const prescale = this.#settings.get(PRESCALE) || 2;
    const control = this.#settings.get(CONTROL0) ?? 0;
    const bits = (control & 15) + 1;
    return (bits * prescale * (1 + ((control >> 8) & 0xff)) * 1e9) / this.#rp.clkPeri;
  }

  /** Bytes that wait to go out. */
  get #waiting() {
    if (!(this.#settings.get(CONTROL1) & ENABLED)) return 0;
    return this.#tx.length + (this.#sending?.transCount ?? 0);
  }

  /** Moves the bytes that are through by now. */
  #settle() {
    if (this.#waiting === 0) return;
    const each = this.#byteTime;
    const done = Math.min(this.#waiting, Math.floor((this.#rp.clock.nanos - this.#since) / each + 1e-6));
    for (let i = 0; i < done; i++) {
      const answer = this.#device.exchange(this.#tx.length ? this.#tx.shift() : this.#fetch(this.#sending));
      const channel = this.#receiving;
      if (channel?.transCount) this.#deliver(channel, answer);
      else if (this.#rx.length < FIFO) this.#rx.push(answer);
    }
    this.#since += done * each;
  }

  #fetch(channel) {
    const byte = this.#rp.readUint8(channel.readAddr);
    if (channel.ctrl & DMA_INCREMENT_READ) channel.readAddr++;
    channel.transCount--;
    return byte;
  }

  #deliver(channel, byte) {
    this.#rp.writeUint8(channel.writeAddr, byte);
    if (channel.ctrl & DMA_INCREMENT_WRITE) channel.writeAddr++;
    channel.transCount--;
  }

  /** Ends what has come to its end, and sets the alarm for what comes next. */
  #look() {
    this.#settle();
    // What was received before anybody asked for it goes first.
    while (this.#receiving?.transCount && this.#rx.length) this.#deliver(this.#receiving, this.#rx.shift());
    const ended = [this.#sending, this.#receiving].filter((channel) => channel && channel.transCount === 0);
    if (this.#sending?.transCount === 0) this.#sending = null;
    if (this.#receiving?.transCount === 0) this.#receiving = null;
    this.#plan();
    for (const channel of ended) this.#finish(channel);
  }

  #plan() {
    this.#alarm.cancel();
    const now = this.#rp.clock.nanos;
    if (this.#waiting === 0) {
      this.#since = now;
      return;
    }
    const bytes = Math.min(this.#waiting, this.#receiving?.transCount || Infinity);
    this.#alarm.schedule(Math.max(0, this.#since + bytes * this.#byteTime - now));
  }

  #finish(channel) {
    const { dma } = this.#rp;
    channel.ctrl &= ~DMA_BUSY;
    if (!(channel.ctrl & DMA_QUIET)) {
      dma.intRaw |= 1 << channel.index;
      dma.checkInterrupts();
    }
    if (channel.chainTo !== channel.index) dma.channels[channel.chainTo]?.start();
  }

  #read(offset) {
    this.#settle();
    switch (offset) {
      case DATA:
        return this.#rx.shift() ?? 0;
      case STATUS: {
        const waiting = this.#waiting;
        const empty = waiting === 0 ? 1 : 0;
        const room = waiting < FIFO ? 2 : 0;
        const some = this.#rx.length ? 4 : 0;
        const full = this.#rx.length === FIFO ? 8 : 0;
        return empty | room | some | full | (waiting ? 16 : 0);
      }
      default:
        return this.#settings.get(offset) ?? 0;
    }
  }

  #write(offset, value) {
    this.#settle();
    switch (offset) {
      case DATA:
        if (this.#waiting === 0) this.#since = this.#rp.clock.nanos;
        if (this.#tx.length < FIFO) this.#tx.push(value & 0xff);
        this.#plan();
        return;
      case INTERRUPT_CLEAR:
        return;
      case INTERRUPT_MASK:
        if (value) this.#rp.logger.warn('SPI0', 'interrupts of the SPI are not modelled');
        return;
      case CONTROL0: case CONTROL1: case PRESCALE: case DMA_CONTROL:
        this.#settings.set(offset, value);
        this.#plan();
        return;
      default:
        this.#rp.logger.warn('SPI0', `write to register ${offset.toString(16)}`);
    }
  }
}
