// The cable: Ethernet frames over a Unix socket, each with its length in four bytes before it, as QEMU's `-netdev stream`, passt
// and our own bridge to a TAP device speak it. Here it can be pulled, and lose frames.

import net from 'node:net';
import { Random } from './random.mjs';

/** More than this not yet taken by the other side, and frames are dropped as a switch would. */
const BACKLOG = 1 << 20;

/** Turns a stream of bytes into frames. */
export class Deframer {
  #pending = Buffer.alloc(0);

  /** Calls `onFrame` for every frame that is complete with these bytes. */
  push(bytes, onFrame) {
    let left = this.#pending.length ? Buffer.concat([this.#pending, bytes]) : bytes;
    while (left.length >= 4) {
      const length = left.readUInt32BE(0);
      if (left.length < 4 + length) break;
      onFrame(new Uint8Array(left.subarray(4, 4 + length)));
      left = left.subarray(4 + length);
    }
    this.#pending = left;
  }
}

export function framed(frame) {
  const bytes = Buffer.alloc(4 + frame.length);
  bytes.writeUInt32BE(frame.length);
  bytes.set(frame, 4);
  return bytes;
}

export class Link {
  #socket = null;
  #random = new Random(0);
  #loss = { receive: 0, send: 0 };

  /** `onFrame(bytes)`: from the network to the box. */
  constructor(onFrame) {
    this.onFrame = onFrame;
    this.up = true;
    this.statistics = { lost: 0 };
  }

  connect(path, onEnd) {
    const deframer = new Deframer();
    this.#socket = net.connect(path);
    this.#socket.on('data', (bytes) => deframer.push(bytes, (frame) => this.receive(frame)));
    this.#socket.on('error', (error) => onEnd(error.message));
    this.#socket.on('close', () => onEnd('the other end of the cable is gone'));
  }

  /** The share of frames that are lost in each direction, and the seed that decides which. */
  setLoss({ receive, send, seed }) {
    this.#loss = { receive, send };
    this.#random = new Random(seed);
  }

  receive(frame) {
    if (this.#passes(this.#loss.receive)) this.onFrame(frame);
  }

  /** Whether a frame of the box goes through. If there is a socket, it also goes. */
  send(frame) {
    if (!this.#passes(this.#loss.send)) return false;
    if (this.#socket) {
      if (this.#socket.writableLength > BACKLOG) return this.#lose();
      this.#socket.write(framed(frame));
    }
    return true;
  }

  #passes(loss) {
    if (this.up && !(loss > 0 && this.#random.fraction() < loss)) return true;
    return this.#lose();
  }

  #lose() {
    this.statistics.lost++;
    return false;
  }
}
