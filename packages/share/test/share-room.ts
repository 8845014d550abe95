// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { findSender, ListeningPort, type ReachedSender, type ReachOptions, Receivers } from '@keibidrop/peer';
import { type InfoReply, ShareClient, type ShareServer, ShareService } from '@keibidrop/proto';
import { parseCode } from '@keibidrop/protocol';
import { openSession, type ServedService, type Session } from '@keibidrop/session';
import { vi } from 'vitest';
import type { ConnectOptions } from '../src/guest/connect-options.ts';
import { ShareGuest } from '../src/guest/share-guest.ts';
import type { ShareEvent } from '../src/share-events.ts';
import { openSharing, type Sharing } from '../src/sharer/share.ts';
import type { ShareOptions } from '../src/sharer/share-options.ts';

const REACH: ReachOptions = { discovery: 'off', directOnly: false, relayOnly: false };
const LISTEN = { host: '127.0.0.1', port: 0, orAnyPort: true };
export const CODE = parseCode('7-guitar-pencil');

type Closable = { close(): Promise<void> };

/** One test's folders, and the peers of this process that meet in it. */
export class ShareRoom {
  readonly home: string;
  readonly signal: AbortSignal;
  readonly events: ShareEvent[] = [];
  readonly #ending = new AbortController();
  readonly #open: Closable[] = [];

  static async open(): Promise<ShareRoom> {
    const home = await mkdtemp(join(tmpdir(), 'keibidrop-share-'));
    vi.stubEnv('XDG_RUNTIME_DIR', home);
    return new ShareRoom(home);
  }

  private constructor(home: string) {
    this.home = home;
    this.signal = this.#ending.signal;
  }

  path(...parts: string[]): string {
    return join(this.home, ...parts);
  }

  async share(dir: string, options: Partial<ShareOptions> = {}): Promise<Sharing> {
    const sharing = await openSharing({
      dir: this.path(dir),
      readOnly: false,
      code: CODE,
      listen: LISTEN,
      reach: REACH,
      label: 'host',
      signal: this.signal,
      onEvent: (event) => this.events.push(event),
      ...options,
    });
    this.#open.push(sharing);
    return sharing;
  }

  async connect(options: Partial<ConnectOptions> = {}): Promise<ShareGuest> {
    const guest = await ShareGuest.connect({ ...this.#meeting(), onEvent: () => {}, ...options });
    this.#open.push(guest);
    return guest;
  }

  /** A guest that sends arbitrary messages. */
  async hostileGuest(): Promise<{ client: ShareClient }> {
    const { reached } = await findSender({ ...this.#meeting(), onEvent: () => {} });
    const session = this.#session(reached, 'initiator', []);
    const channelOverride = session.channel;
    return { client: new ShareClient('peer', credentials.createInsecure(), { channelOverride }) };
  }

  /** A host that waits under CODE and answers arbitrarily. */
  async hostileHost(handlers: Partial<ShareServer>, said: Partial<InfoReply> = {}): Promise<void> {
    const info: ShareServer['info'] = (_call, reply) =>
      reply(null, {
        label: 'host',
        name: 'share',
        readOnly: false,
        reads: true,
        writes: false,
        id: new Uint8Array(),
        batches: false,
        remembers: false,
        ...said,
      });
    const never = () => {};
    const all = {
      info,
      stat: never,
      space: never,
      list: never,
      watch: never,
      fetch: never,
      ...handlers,
    } as ShareServer;
    const port = new ListeningPort({ listen: LISTEN, reach: REACH, onEvent: () => {}, signal: this.signal });
    this.#open.push(port);
    await port.wait({
      code: CODE,
      receivers: new Receivers(),
      hasRoom: () => true,
      serve: async (peer) => {
        const service = { definition: ShareService, handlers: all as unknown as ServedService['handlers'] };
        peer.desk.take(peer.keys.attempt);
        await this.#session(peer, 'responder', [service]).closed;
      },
      onWrongCode: () => {},
      onExhausted: () => {},
      signal: this.signal,
    });
  }

  /** The first event of that type, past or future. */
  until<Type extends ShareEvent['type']>(type: Type): Promise<Extract<ShareEvent, { type: Type }>> {
    const find = () => this.events.find((event) => event.type === type) as Extract<ShareEvent, { type: Type }>;
    return vi.waitUntil(find, { timeout: 240_000, interval: 5 });
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.reverse().map((one) => one.close()));
    this.#ending.abort();
    vi.unstubAllEnvs();
    await rm(this.home, { recursive: true, force: true });
  }

  #meeting() {
    return { code: CODE, reach: REACH, label: 'guest', patienceMs: 0, signal: this.signal };
  }

  #session(
    { socket, keys }: Pick<ReachedSender, 'socket' | 'keys'>,
    role: 'initiator' | 'responder',
    services: ServedService[],
  ): Session {
    const refuse = (call: { destroy(error: Error): void }) => void call.destroy(new Error('refused'));
    const peerService = { transfer: refuse, digests: refuse };
    const session = openSession(socket, keys, role, { peerService, services, signal: this.signal });
    this.#open.push(session);
    return session;
  }
}

/** Collects all values of a generator. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}
