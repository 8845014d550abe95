// SPDX-License-Identifier: MPL-2.0

import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';

const LANE_PREAMBLE = 'KEIBI-L1';

/** A TCP proxy between two peers. Counts the bytes on the wire that lanes carry to the receiver, and cuts lanes. */
export class LaneCounter {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The port that connections are forwarded to. */
  target = 0;
  /** Bytes written to the receiver on all lanes. */
  laneBytes = 0;
  readonly #lanes: Socket[] = [];
  readonly #waiting = new Set<() => void>();

  static async open(): Promise<LaneCounter> {
    const counter = new LaneCounter();
    await new Promise<void>((resolve) => counter.#server.listen(0, '127.0.0.1', resolve));
    return counter;
  }

  private constructor() {
    this.#server = createServer((incoming) => this.#pass(incoming));
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resets every open connection; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** The number of lanes opened so far. */
  get lanes(): number {
    return this.#lanes.length;
  }

  /** Resolves once the lanes have carried this many bytes. */
  carried(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.laneBytes < bytes) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Resets the given lanes, counted from 0, or all of them; both peers see a reset. */
  cutLanes(...which: number[]): void {
    const lanes = which.length === 0 ? this.#lanes : which.map((lane) => this.#lanes[lane]);
    for (const lane of lanes) lane?.resetAndDestroy();
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #pass(incoming: Socket): void {
    const outgoing = dial(this.target, '127.0.0.1');
    let kind: string | undefined;
    incoming.on('data', (bytes) => {
      if (kind === undefined) {
        kind = bytes.subarray(0, LANE_PREAMBLE.length).toString('latin1');
        if (kind === LANE_PREAMBLE) this.#lanes.push(incoming);
      }
      if (!outgoing.write(bytes)) incoming.pause();
    });
    outgoing.on('drain', () => incoming.resume());
    incoming.on('drain', () => outgoing.resume());
    outgoing.on('data', (bytes) => {
      if (kind === LANE_PREAMBLE) {
        this.laneBytes += bytes.length;
        for (const look of this.#waiting) look();
      }
      if (!incoming.write(bytes)) outgoing.pause();
    });
    const pairs: [Socket, Socket][] = [
      [incoming, outgoing],
      [outgoing, incoming],
    ];
    for (const [socket, other] of pairs) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      // A FIN is forwarded as a FIN and a reset as a reset, so the peers see what they would without a proxy.
      socket.on('end', () => other.end());
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        other.destroySoon();
        this.#sockets.delete(socket);
      });
    }
  }
}
