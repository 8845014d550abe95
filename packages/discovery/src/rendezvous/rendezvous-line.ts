// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelInterface } from '@grpc/grpc-js';
import { type Conversation, KeibiError } from '@keibidrop/protocol';
import { dialRendezvous, rendezvousUnreachable } from '../dial/dial-rendezvous.ts';
import type { HostPort } from '../host-port.ts';
import type { GuestConversation, OpenChannel } from './rendezvous-client.ts';

export interface RendezvousLineOptions {
  /** Makes a channel that detects a dead connection within seconds. */
  openChannel: OpenChannel;
  signal: AbortSignal;
  /** Called on each change, in order: undefined when connected, the reason when the connection is lost. */
  onState(lost: KeibiError | undefined): void;
}

/** Pause between two dials: the first, doubled after each failure, and the longest. Each is randomly reduced by up to a quarter. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** Limit for one dial; TCP retransmits meanwhile. */
const DIAL_MS = 4000;
/** Pause before the server is asked again for a mailbox that it refused. */
const REFUSED_PAUSE_MS = 30_000;
/** Limit of the wait for the server's first answer about a mailbox, before the caller visits other mailboxes. */
const OWNING_MS = 2000;
const OWNER_BYTES = 16;
/** Concurrent requests for mailboxes to one server. */
const MAX_ASKING = 8;

/** One of our mailboxes. */
interface Held {
  readonly onGuest: (conversation: Conversation) => void;
  readonly ending: AbortController;
}

/** The current connection, shared by all mailboxes. */
interface Up {
  readonly socket: Socket;
  readonly openChannel: OpenChannel;
  /** Aborted when the connection ends. */
  readonly over: AbortSignal;
}

/**
 * One connection to a server, reopened after each loss, for any number of contacts' mailboxes and visits to others.
 *
 * Own your mailbox before you visit the contact's: of two contacts, the later one then finds the earlier one without a second try.
 * A visit is therefore worth a try each time the line comes up, and rarely otherwise.
 */
export class RendezvousLine {
  readonly #place: HostPort;
  readonly #options: RendezvousLineOptions;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #owned = new Map<string, Held>();
  /** Lets the server recognise us after a lost connection. */
  readonly #owner = randomBytes(OWNER_BYTES);
  /** Number of unanswered requests to the server, and the requests waiting for their turn. */
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
   * Owns a mailbox until `disown` or the end of the line; `onGuest` receives each guest that has spoken.
   * @returns  after the server's first answer, or OWNING_MS; at once if the line is down
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

  /**
   * Enters a contact's mailbox.
   *
   * @throws  RENDEZVOUS_NOT_FOUND, RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
   */
  async join(mailbox: string, { signal }: { signal: AbortSignal }): Promise<GuestConversation> {
    const up = this.#up;
    if (up === undefined) throw rendezvousUnreachable(this.#place);
    const { joinOver } = await import('./rendezvous-client.ts');
    const options = { openChannel: up.openChannel, contact: true, signal };
    return this.#inTurn(() => joinOver(up.socket, this.#place, mailbox, options));
  }

  /** Closes the line and gives up all mailboxes. Idempotent. */
  close(): void {
    this.#closing.abort(new KeibiError('SESSION_CLOSED', 'The line was closed.'));
  }

  /** Runs at most MAX_ASKING requests at a time. */
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
    let reported: KeibiError | undefined;
    for (let failures = 0; !this.#signal.aborted; failures++) {
      try {
        const { up, ended } = await this.#open();
        this.#up = up;
        reported = undefined;
        // Own our mailboxes first: if two contacts come at the same time, one then finds the other.
        await shortly([...this.#owned].map(([mailbox, held]) => this.#attach(mailbox, held, up)));
        if (!up.over.aborted) this.#options.onState(undefined);
        const began = performance.now();
        await ended;
        // A connection that lasted this long resets the pause.
        if (performance.now() - began > LONGEST_PAUSE_MS) failures = 0;
        this.#up = undefined;
        throw rendezvousUnreachable(this.#place);
      } catch (reason) {
        if (this.#signal.aborted) return;
        const error = KeibiError.from(reason, 'RENDEZVOUS_UNREACHABLE');
        if (reported === undefined) this.#options.onState(error);
        reported = error;
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
    // Destroying the connection ends every call. Closing the channel with hundreds of calls aborted Node 20.20 (corrupted heap); the cause
    // is unknown.
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

  /** Owns one mailbox on one connection while both last. Resolves with the server's first answer about it. */
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
      // The mailbox has another owner or the server has no room; or the connection is lost and `signal` ends the retry.
      void again();
    }
  }
}

/** Waits for all of them, at most OWNING_MS. */
async function shortly(all: Promise<void>[]): Promise<void> {
  const over = new AbortController();
  await Promise.race([Promise.all(all), sleep(OWNING_MS, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}

/** The same channel with a `close` that does nothing, for one of its many users. */
function withoutClose(channel: ChannelInterface): ChannelInterface {
  return new Proxy(channel, {
    get: (of, name) => {
      if (name === 'close') return () => {};
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}
