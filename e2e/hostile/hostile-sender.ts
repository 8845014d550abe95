// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { freePort } from '../../bench/free-port.mjs';
import { FrameSealer } from '../../native/lib/index.ts';
import { MeetingHost } from '../../packages/peer/src/meeting/meeting-host.ts';
import { mailboxOf, parseCode } from '../../packages/protocol/src/index.ts';
import { RendezvousServer } from '../../packages/server/src/index.ts';
import {
  handshakeAsResponder,
  type Keys,
  openSession,
  type PeerHandlers,
  type Session,
} from '../../packages/session/src/index.ts';
import type { PeerClient, ReceiverMessage, SenderMessage } from '../../proto/index.ts';
import { laneKey } from './lane-keys.ts';
import { type RawEntry, rawPage } from './raw-manifest.ts';

export const CODE = '7-guitar-pencil';

type Body = NonNullable<ReceiverMessage['body']>;

/** A lane as its dialler announced it, and the sealer for bytes to it. */
export interface HostileLane {
  socket: Socket;
  sealer: FrameSealer;
  number: number;
}

/**
 * A sender that knows the code and follows no other rule. It meets, shakes hands and seals with the packages of this
 * workspace. On the control connection and the lanes it sends whatever a test wants.
 */
export class HostileSender {
  readonly port: number;
  readonly received: Body[] = [];
  session: Session | undefined;
  keys: Keys | undefined;
  /** Settles after the handshake, when the transfer has been called. */
  readonly met: Promise<void>;
  call!: ReturnType<PeerClient['transfer']>;
  readonly #server = createServer((socket) => void this.#serve(socket).catch(() => socket.destroy()));
  readonly #rendezvous = new RendezvousServer();
  readonly #ending = new AbortController();
  readonly #host: MeetingHost;
  readonly #peerService: PeerHandlers;
  readonly #lanes: HostileLane[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #changed: (() => void)[] = [];
  #meet: () => void = () => {};

  private constructor(port: number, peerService: Partial<PeerHandlers>) {
    this.port = port;
    const refuse = (call: { destroy(): void }) => void call.destroy();
    this.#peerService = { transfer: refuse, digests: refuse, ...peerService };
    this.met = new Promise((resolve) => {
      this.#meet = resolve;
    });
    this.#host = new MeetingHost({
      code: parseCode(CODE),
      candidates: () => [{ transport: 'direct', host: '127.0.0.1', port }],
      hasRoom: () => true,
      returnSecretOf: () => undefined,
      onWrongCode: () => {},
      onExhausted: () => {},
      signal: this.#ending.signal,
    });
    void this.#host.serve(this.#rendezvous.own(mailboxOf('7')));
  }

  static async open(peerService: Partial<PeerHandlers> = {}): Promise<HostileSender> {
    const port = await freePort();
    const sender = new HostileSender(port, peerService);
    sender.#server.listen(port, '127.0.0.1');
    await once(sender.#server, 'listening');
    return sender;
  }

  say(body: SenderMessage['body']): this {
    this.call.write({ body });
    return this;
  }

  start(label = 'mallory', text?: string): this {
    return this.say({ $case: 'offerStart', value: { label, text } });
  }

  page(firstEntry: number, entries: readonly RawEntry[], count = entries.length): this {
    return this.say({ $case: 'page', value: { firstEntry, count, entries: rawPage(entries) } });
  }

  end(entries: number, files: number, bytes: number): this {
    return this.say({ $case: 'offerEnd', value: { entries, files, bytes } });
  }

  /** The receiver's first message of this kind, past or future. */
  async hears<C extends Body['$case']>(kind: C): Promise<Extract<Body, { $case: C }>> {
    for (;;) {
      const found = this.received.find((body) => body.$case === kind);
      if (found) return found as Extract<Body, { $case: C }>;
      await this.#change();
    }
  }

  async lane(index = 0): Promise<HostileLane> {
    while (this.#lanes[index] === undefined) await this.#change();
    return this.#lanes[index];
  }

  /** Sends one lane frame with any plaintext. */
  async frame(plaintext: Uint8Array, lane = 0): Promise<void> {
    const { socket, sealer } = await this.lane(lane);
    socket.write(sealer.seal(plaintext));
  }

  /** Stops reading and writing, and keeps every connection open. */
  freeze(): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data').pause();
      socket.write = () => true;
    }
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error('the test is over'));
    this.#host.close();
    await this.#rendezvous.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const { sealer } of this.#lanes) sealer.close();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket.on('error', () => {}));
    socket.setNoDelay(true);
    const preamble = (await take(socket, 8)).toString('latin1');
    if (preamble === 'KEIBI-C1') return this.#shakeHands(socket);
    if (preamble === 'KEIBI-L1') return this.#takeLane(socket);
    socket.unshift(Buffer.from(preamble, 'latin1'));
    this.#rendezvous.attach(socket);
  }

  async #shakeHands(socket: Socket): Promise<void> {
    const { signal } = this.#ending;
    const authOf = (attempt: Uint8Array) => this.#host.take(attempt)?.auth;
    const keys = await handshakeAsResponder(socket, { suites: ['aes-256-gcm'], hardware: true, authOf, signal });
    this.keys = { ...keys, laneSecret: keys.laneSecret.slice() };
    this.session = openSession(socket, keys, 'responder', { peerService: this.#peerService, signal });
    this.call = this.session.client.transfer();
    this.call.on('data', ({ body }: ReceiverMessage) => {
      if (body) this.received.push(body);
      if (body?.$case === 'finished') void this.session?.close();
      this.#notify();
    });
    this.call.on('error', () => {});
    this.#meet();
  }

  async #takeLane(socket: Socket): Promise<void> {
    const hello = await take(socket, 16 + 4 + 33);
    const number = hello.readUInt32BE(16);
    const { laneSecret, suite } = this.keys as Keys;
    this.#lanes.push({
      socket,
      number,
      sealer: new FrameSealer({ suite, key: laneKey(laneSecret, suite, 'responder', number) }),
    });
    this.#notify();
  }

  #notify(): void {
    for (const changed of this.#changed.splice(0)) changed();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }
}

/** Reads exactly `length` bytes; later bytes stay in the socket. */
async function take(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes: Buffer | null = socket.read(length);
    if (bytes?.length === length) return bytes;
    if (bytes !== null || socket.destroyed || socket.readableEnded) throw new Error('the connection ended early');
    await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
}
