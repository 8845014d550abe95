// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelInterface } from '@grpc/grpc-js';
import { type Conversation, KeibiError } from '@keibidrop/protocol';
import { dialRendezvous, rendezvousUnreachable } from './dial-rendezvous.ts';
import type { HostPort } from './host-port.ts';
import type { GuestConversation, OpenChannel } from './rendezvous-client.ts';

export interface RendezvousLineOptions {
  /** A channel whose connection is found dead within seconds. */
  openChannel: OpenChannel;
  signal: AbortSignal;
  /** Connected, or not any more: with the reason. Each change is told, in order. */
  onState(lost: KeibiError | undefined): void;
}

/** Between two dials: the first, doubled with each that fails, and the longest, all by chance up to a quarter less. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** One dial: into a gap of the network it is sent again by TCP meanwhile. */
const DIAL_MS = 4000;
/** Before a server is asked again for a mailbox that it has refused. */
const REFUSED_PAUSE_MS = 30_000;
/** Nobody waits longer for a server's word about a mailbox before visiting others. */
const OWNING_MS = 2000;
const OWNER_BYTES = 16;
/** Mailboxes that a server is asked about at one time. */
const MAX_ASKING = 8;

/** A mailbox of ours. */
interface Held {
  readonly onGuest: (conversation: Conversation) => void;
  readonly ending: AbortController;
}

/** The connection that is up, shared by all mailboxes. */
interface Up {
  readonly socket: Socket;
  readonly openChannel: OpenChannel;
  /** Aborted with the connection's end. */
  readonly over: AbortSignal;
}

/**
 * One connection to a server, over its loss and return, that carries any number of contacts' mailboxes and visits to others.
 *
 * Whoever owns its mailbox before it visits the other's meets it without asking twice: the later of two finds the earlier. So a visit is worth
 * trying each time the line has come up, and seldom otherwise.
 */
export class RendezvousLine {
  readonly #place: HostPort;
  readonly #options: RendezvousLineOptions;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #owned = new Map<string, Held>();
  /** By which the server knows us again. */
  readonly #owner = randomBytes(OWNER_BYTES);
  /** Questions that the server has not answered, and those that wait for their turn. */
  #asking = 0;
  readonly #turns: (() => void)[] = [];
  #up: Up | undefined;

  constructor(place: HostPort, options: RendezvousLineOptions) {
    this.#place = place;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closing.signal]);
    void this.#keep();
  }

  get isUp(): boolean {
    return this.#up !== undefined;
  }

  /**
   * Owns a mailbox until `disown` or the end; each guest that has spoken is handed over.
   * @returns  once the server has said what it thinks of it, if it is there and takes no longer than OWNING_MS
   */
  async own(mailbox: string, onGuest: (conversation: Conversation) => void): Promise<void> {
    if (this.#owned.has(mailbox)) return;
    const held = { onGuest, ending: new AbortController() };
    this.#owned.set(mailbox, held);
    if (this.#up !== undefined) await shortly([this.#attach(mailbox, held, this.#up)]);
  }

  disown(mailbox: string): void {
    this.#owned.get(mailbox)?.ending.abort(new KeibiError('SESSION_CLOSED', 'The mailbox was given up.'));
    this.#owned.delete(mailbox);
  }

  /** Enters a contact's mailbox. @throws RENDEZVOUS_NOT_FOUND, RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE; `signal.reason` on abort */
  async join(mailbox: string, { signal }: { signal: AbortSignal }): Promise<GuestConversation> {
    const up = this.#up;
    if (up === undefined) throw rendezvousUnreachable(this.#place);
    const { joinOver } = await import('./rendezvous-client.ts');
    const options = { openChannel: up.openChannel, contact: true, signal };
    return this.#inTurn(() => joinOver(up.socket, this.#place, mailbox, options));
  }

  /** Gives everything up. Idempotent. */
  close(): void {
    this.#closing.abort(new KeibiError('SESSION_CLOSED', 'The line was closed.'));
  }

  /** A few at a time. */
  async #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    while (this.#asking >= MAX_ASKING) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#asking++;
    try {
      return await ask();
    } finally {
      this.#asking--;
      this.#turns.shift()?.();
    }
  }

  async #keep(): Promise<void> {
    let told: KeibiError | undefined;
    for (let failures = 0; !this.#signal.aborted; failures++) {
      try {
        const { up, ended } = await this.#open();
        this.#up = up;
        told = undefined;
        // Ours first: of two that come at the same time one then finds the other.
        await shortly([...this.#owned].map(([mailbox, held]) => this.#attach(mailbox, held, up)));
        if (!up.over.aborted) this.#options.onState(undefined);
        const began = performance.now();
        await ended;
        // A server that has held us for so long is well.
        if (performance.now() - began > LONGEST_PAUSE_MS) failures = 0;
        this.#up = undefined;
        throw rendezvousUnreachable(this.#place);
      } catch (reason) {
        if (this.#signal.aborted) return;
        const error = KeibiError.from(reason, 'RENDEZVOUS_UNREACHABLE');
        if (told === undefined) this.#options.onState(error);
        told = error;
      }
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (1 - Math.random() / 4);
      await sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  async #open(): Promise<{ up: Up; ended: Promise<void> }> {
    const dialling = AbortSignal.any([this.#signal, AbortSignal.timeout(DIAL_MS)]);
    const socket = await dialRendezvous(this.#place, { signal: dialling }).catch((reason) => {
      this.#signal.throwIfAborted();
      throw dialling.aborted ? rendezvousUnreachable(this.#place, reason) : reason;
    });
    const over = new AbortController();
    const channel = this.#options.openChannel(socket);
    // Cutting the connection ends every call. Closing the channel with hundreds of them aborted Node 20.20 (corrupted heap); why is not known.
    const onAbort = () => socket.destroy();
    this.#signal.addEventListener('abort', onAbort);
    const ended = new Promise<void>((resolve) => {
      socket.once('close', () => {
        this.#signal.removeEventListener('abort', onAbort);
        setImmediate(() => {
          over.abort(rendezvousUnreachable(this.#place));
          resolve();
        });
      });
    });
    if (this.#signal.aborted) onAbort();
    const shared = withoutClose(channel);
    return { up: { socket, openChannel: () => shared, over: over.signal }, ended };
  }

  /** Owns one mailbox on one connection, for as long as there are both. Resolves with the server's first word about it. */
  async #attach(mailbox: string, held: Held, up: Up): Promise<void> {
    const { attachAsOwner } = await import('./mailbox-attachment.ts');
    const signal = AbortSignal.any([held.ending.signal, up.over]);
    const again = async () => {
      await sleep(REFUSED_PAUSE_MS * (1 - Math.random() / 4), undefined, { signal }).catch(() => {});
      if (!signal.aborted) void this.#attach(mailbox, held, up);
    };
    const options = { openChannel: up.openChannel, contact: true, relayed: false, owner: this.#owner };
    try {
      const attachment = await this.#inTurn(() =>
        attachAsOwner(up.socket, this.#place, mailbox, { ...options, arrive: held.onGuest, signal }),
      );
      const onAbort = () => attachment.close();
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      void attachment.ended.then(again);
    } catch {
      // Another has it, or there is no room; or the connection is gone, and there will be another.
      void again();
    }
  }
}

/** Waits for all of them, but not long. */
async function shortly(all: Promise<void>[]): Promise<void> {
  const over = new AbortController();
  await Promise.race([Promise.all(all), sleep(OWNING_MS, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}

/** The same channel, for one of many that use it. */
function withoutClose(channel: ChannelInterface): ChannelInterface {
  return new Proxy(channel, {
    get: (of, name) => {
      if (name === 'close') return () => {};
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}
