// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FrameSealer } from '../../native/lib/index.ts';
import { joinMailbox } from '../../packages/discovery/src/index.ts';
import { type MessagePipe, mailboxOf, parseCode, type Suite } from '../../packages/protocol/src/index.ts';
import {
  CandidateExchange,
  handshakeAsInitiator,
  type Keys,
  type Meeting,
  meetAsGuest,
  openGrpcChannel,
  openSession,
  type PeerHandlers,
  type PreparedHandshake,
  type Session,
} from '../../packages/session/src/index.ts';
import type { ReceiverMessage, SenderMessage } from '../../proto/index.ts';
import { laneKey } from './lane-keys.ts';

type Body = NonNullable<SenderMessage['body']>;

/** Joins the mailbox of the sender at a port, as any guest can. */
export function joinAsGuest(port: number, nameplate: string): Promise<MessagePipe> {
  const { signal } = new AbortController();
  return joinMailbox({ host: '127.0.0.1', port }, mailboxOf(nameplate), { openChannel: openGrpcChannel, signal });
}

interface HandshakeOptions {
  suite?: Suite;
  prepared?: PreparedHandshake;
  lanes?: Socket[];
}

/** A receiver that knows the code and follows no other rule. */
export class HostileReceiver {
  readonly port: number;
  readonly received: Body[] = [];
  readonly keys: Keys;
  /** Bytes that the meeting contributes to the handshake. */
  readonly auth: Uint8Array;
  session!: Session;
  #call: Parameters<PeerHandlers['transfer']>[0] | undefined;
  #changed: (() => void)[] = [];
  readonly #ending = new AbortController();

  private constructor(port: number, keys: Keys, auth: Uint8Array) {
    this.auth = auth;
    this.port = port;
    this.keys = { ...keys, laneSecret: keys.laneSecret.slice() };
  }

  /**
   * Meets, shakes hands and waits for the sender's call.
   *
   * @param options.prepared  ephemeral keys that the test knows
   * @param options.lanes     connections that become lanes 0, 1, … as soon as the handshake is done
   */
  static async reach(port: number, code: string, options: HandshakeOptions = {}): Promise<HostileReceiver> {
    return HostileReceiver.shakeHands(port, await HostileReceiver.meet(port, code), options);
  }

  /** Proves the code; the handshake follows separately. */
  static async meet(port: number, code: string): Promise<Meeting> {
    const { signal } = new AbortController();
    const parsed = parseCode(code);
    const pipe = await joinAsGuest(port, parsed.nameplate);
    const meeting = await meetAsGuest(pipe, parsed, { signal });
    const exchange = new CandidateExchange(pipe, meeting, 'guest');
    await exchange.receive({ signal });
    exchange.close();
    return meeting;
  }

  static async shakeHands(
    port: number,
    meeting: Meeting,
    { suite = 'aes-256-gcm', prepared, lanes = [] }: HandshakeOptions = {},
  ): Promise<HostileReceiver> {
    const { signal } = new AbortController();
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    const own = prepared && { prepared: Promise.resolve(prepared) };
    const keys = await handshakeAsInitiator(socket, { ...meeting, suites: [suite], hardware: true, signal, ...own });
    const receiver = new HostileReceiver(port, keys, meeting.auth.slice());
    for (const [number, lane] of lanes.entries()) lane.write(receiver.#hello(number));
    receiver.#open(socket, keys);
    return receiver;
  }

  #open(socket: Socket, keys: Keys): void {
    const transfer: PeerHandlers['transfer'] = (call) => {
      this.#call = call;
      call.on('error', () => {});
      call.on('data', ({ body }: SenderMessage) => {
        if (body) this.received.push(body);
        this.#notify();
      });
      this.#notify();
    };
    const digests: PeerHandlers['digests'] = (call) => void call.destroy();
    this.session = openSession(socket, keys, 'initiator', {
      peerService: { transfer, digests },
      signal: this.#ending.signal,
    });
  }

  /** The Transfer call from the sender. */
  async call(): Promise<Parameters<PeerHandlers['transfer']>[0]> {
    while (this.#call === undefined) await this.#change();
    return this.#call;
  }

  async say(body: ReceiverMessage['body']): Promise<boolean> {
    return (await this.call()).write({ body });
  }

  async answer(
    firstEntry: number,
    count: number,
    wanted: Uint8Array,
    partials: { entry: number; held: Uint8Array }[] = [],
  ) {
    await this.say({ $case: 'answer', value: { firstEntry, count, wanted, partials } });
  }

  /** The sender's first message of this kind, past or future. */
  async hears<C extends Body['$case']>(kind: C): Promise<Extract<Body, { $case: C }>> {
    for (;;) {
      const found = this.received.find((body) => body.$case === kind);
      if (found) return found as Extract<Body, { $case: C }>;
      await this.#change();
    }
  }

  /** Dials a lane; `change` may corrupt its hello. Resolves with the socket before the sender has read the hello. */
  async lane(number: number, change: (hello: Buffer) => Buffer = (hello) => hello): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(change(this.#hello(number)));
    return socket;
  }

  #hello(lane: number): Buffer {
    const { suite, laneSecret, sessionId } = this.keys;
    const sealer = new FrameSealer({ suite, key: laneKey(laneSecret, suite, 'initiator', lane) });
    const head = Buffer.alloc(4);
    head.writeUInt32BE(lane);
    const hello = Buffer.concat([Buffer.from('KEIBI-L1'), sessionId, head, sealer.seal(Buffer.of(0))]);
    sealer.close();
    return hello;
  }

  close(): void {
    this.#ending.abort(new Error('the test is over'));
  }

  #notify(): void {
    for (const changed of this.#changed.splice(0)) changed();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }
}
