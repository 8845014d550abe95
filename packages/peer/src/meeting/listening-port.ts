// SPDX-License-Identifier: MPL-2.0
import { randomBytes, randomInt } from 'node:crypto';
import { announce, announceOnLan, assertInterface } from '@keibidrop/discovery';
import type { Incoming, Listener } from '@keibidrop/native';
import { type Code, createCode, KeibiError, mailboxOf, type Owner, type Suite } from '@keibidrop/protocol';
import { Crowd, networkOf, RendezvousServer } from '@keibidrop/server';
import { handshakeAsResponder, prepareHandshake, type ReturnSecret, warmUpHandshakes } from '@keibidrop/session';
import type { ListenAddress } from '@keibidrop/settings';
import type { ReachOptions } from '../api.ts';
import type { PeerEvent } from '../events.ts';
import { suiteOffer } from '../suites.ts';
import { type IncomingPeer, turnAway } from './incoming-peer.ts';
import { MeetingHost } from './meeting-host.ts';
import { openListener, socketOf } from './open-listener.ts';
import type { Receivers } from './receivers.ts';
import { SenderReach } from './sender-reach.ts';

export interface PortOptions {
  listen: ListenAddress;
  reach: ReachOptions;
  suite?: Suite | undefined;
  /** Limit of concurrent codes; 1 if absent. */
  codes?: number;
  onEvent(event: PeerEvent): void;
  signal: AbortSignal;
}

export interface WaitOptions {
  /** The code to use; absent: a new one of `wordCount` words. */
  code?: Code | undefined;
  wordCount?: number | undefined;
  /** Digits of a new code's nameplate; absent: few, to be read aloud. */
  digits?: number | undefined;
  /** The receivers that may return without the code. */
  receivers: Receivers;
  /** The secrets of other peers that may come without the code (PROTOCOL 3.2); absent: there are none. */
  knownSecretOf?(attempt: Uint8Array): ReturnSecret | undefined;
  /** Whether one more peer may come. */
  hasRoom(): boolean;
  /** Serves a peer after its handshake. Never rejects. */
  serve(peer: IncomingPeer): Promise<void>;
  onWrongCode(remaining: number): void;
  /** The last guess was wrong: the code admits no more peers. With `onLocked` it is locked for that time instead. */
  onExhausted?(error: KeibiError): void;
  onLocked?(milliseconds: number): void;
  signal: AbortSignal;
}

const DEFAULT_WORDS = 2;
/** Generated nameplates are short, to be read aloud: a machine has few senders, a public rendezvous many. */
const NAMEPLATES = 1000;
const PUBLIC_NAMEPLATES = 100_000;
const NAMEPLATE_TRIES = 20;
/** More digits are drawn after this many taken nameplates. */
const TRIES_OF_ONE_LENGTH = 4;
/** With a relay only, the listener joins relays, but no other peer can dial it. */
const NOWHERE: ListenAddress = { host: '127.0.0.1', port: 0, orAnyPort: true };
/** Concurrent connections without a proven code. One more ends the oldest of its network, so silent ones block no peer. */
const HANDSHAKES = { most: 64, mostOfNetwork: 32 };

/** A guest that has proved the code completes its handshake within a few round trips. */
const COMING_MS = 5000;

/** The port at which peers are met, and the codes for which it waits. */
export class ListeningPort {
  readonly listener: Listener;
  readonly reach: SenderReach;
  readonly #options: PortOptions;
  readonly #rendezvous: RendezvousServer;
  readonly #waiting = new Set<Waiting>();
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  readonly #handshakes = new Crowd(HANDSHAKES);
  readonly #active = new Set<Promise<void>>();

  /**
   * @throws CONFIG_INVALID (the port, the interface); PEER_UNREACHABLE if only a relay may be used and no rendezvous is named;
   * USAGE
   */
  constructor(options: PortOptions) {
    const { reach, listen, onEvent, signal, codes = 1 } = options;
    assertInterface(reach.discovery);
    this.#options = options;
    this.#signal = AbortSignal.any([signal, this.#ending.signal]);
    this.#rendezvous = new RendezvousServer({ limits: { mailboxes: codes } });
    this.listener = openListener(reach.relayOnly ? NOWHERE : listen, (incoming) => this.#accept(incoming));
    try {
      this.reach = new SenderReach({ listener: this.listener, reach, onEvent, signal: this.#signal });
    } catch (reason) {
      void this.listener.close();
      throw reason;
    }
  }

  /**
   * Waits under a code until it is closed. A generated code is drawn until its nameplate is free on this machine and at the
   * rendezvous.
   *
   * @throws RENDEZVOUS_BUSY if the code's number is taken; PEER_UNREACHABLE if only a relay may be used and there is none
   */
  async wait(options: WaitOptions): Promise<Waiting> {
    const { code, owners, withdraw } = await this.#announce(options);
    const { discovery, relayOnly } = this.#options.reach;
    const silence = relayOnly ? undefined : announceOnLan(mailboxOf(code.nameplate), this.listener, { discovery });
    const waiting: Waiting = new Waiting(code, owners, options, this.reach, async () => {
      this.#waiting.delete(waiting);
      await Promise.all([withdraw(), silence?.()]);
    });
    this.#waiting.add(waiting);
    for (const owner of owners) void waiting.desk.serve(owner);
    return waiting;
  }

  /** Call after the `waiting` event: from now on rendezvous events are emitted, and a router is asked for a port. */
  begin(): void {
    this.reach.begin();
    // Loads the libraries now, so that the first peer does not wait for them.
    void Promise.all([this.#rendezvous.ready(), warmUpHandshakes()]).catch(() => {});
  }

  /** Ends all codes of this port. */
  async close(): Promise<void> {
    await Promise.all([this.reach.close(), ...[...this.#waiting].map((waiting) => waiting.close())]);
    this.#ending.abort(new KeibiError('SESSION_CLOSED', 'The sender has ended.'));
    await Promise.allSettled(this.#active);
    await this.#rendezvous.close();
    await this.listener.close();
  }

  async #announce(options: WaitOptions): Promise<{ code: Code; owners: Owner[]; withdraw(): Promise<void> }> {
    const { code: given, wordCount = DEFAULT_WORDS, digits } = options;
    const few = this.#options.reach.rendezvous === undefined ? NAMEPLATES : PUBLIC_NAMEPLATES;
    for (let tries = 0; ; tries++) {
      const count = digits === undefined ? few * 10 ** Math.floor(tries / TRIES_OF_ONE_LENGTH) : 10 ** digits;
      const nameplate = String(randomInt(1, count));
      const code = given ?? createCode({ nameplate, wordCount, randomBytes: (bytes) => randomBytes(bytes) });
      try {
        return { code, ...(await this.#own(mailboxOf(code.nameplate), options.signal)) };
      } catch (reason) {
        const taken = reason instanceof KeibiError && reason.detail?.taken === true;
        if (given || !taken || tries + 1 === NAMEPLATE_TRIES) throw reason;
      }
    }
  }

  /** With a relay only, the mailbox is not announced on this machine. */
  async #own(mailbox: string, signal: AbortSignal): Promise<{ owners: Owner[]; withdraw(): Promise<void> }> {
    const { relayOnly } = this.#options.reach;
    const withdraw = relayOnly ? async () => {} : await announce(mailbox, this.listener);
    try {
      const remote = await this.reach.own(mailbox, signal);
      const local = relayOnly ? [] : [this.#rendezvous.own(mailbox)];
      return { withdraw, owners: [...local, ...(remote === undefined ? [] : [remote])] };
    } catch (reason) {
      await withdraw();
      throw reason;
    }
  }

  #accept(incoming: Incoming): void {
    if (this.#options.reach.relayOnly && !incoming.relayed) {
      socketOf(incoming).destroy();
      return;
    }
    if (incoming.kind === 'rendezvous') {
      this.#rendezvous.attach(socketOf(incoming));
      return;
    }
    const served = this.#serve(incoming).finally(() => this.#active.delete(served));
    this.#active.add(served);
  }

  /** Runs the handshake, and hands the peer to the code or the lost session that its attempt names. */
  async #serve(incoming: Incoming): Promise<void> {
    const socket = socketOf(incoming);
    socket.setNoDelay(true);
    // Handshake and session have their own error listeners; this one covers the time between them.
    socket.on('error', () => {});
    const handshake = new AbortController();
    const done = this.#handshakes.add(networkOf(incoming.remoteAddress), () =>
      handshake.abort(new KeibiError('PEER_BUSY')),
    );
    let place: Waiting | undefined;
    const authOf = (attempt: Uint8Array) => {
      for (const waiting of this.#waiting) {
        const auth = waiting.authOf(attempt);
        if (auth === undefined) continue;
        place = waiting;
        return auth;
      }
      return undefined;
    };
    try {
      const signal = AbortSignal.any([this.#signal, handshake.signal]);
      const prepared = prepareHandshake('responder');
      const keys = await handshakeAsResponder(socket, { ...suiteOffer(this.#options.suite), authOf, prepared, signal });
      done();
      await place?.admit({ incoming, socket, keys });
    } catch {
      // A peer without a proven code gets no report.
      done();
    }
  }
}

/** One code under which the port waits. */
export class Waiting {
  readonly code: Code;
  readonly desk: MeetingHost;
  readonly #owners: readonly Owner[];
  readonly #options: WaitOptions;
  readonly #withdraw: () => Promise<void>;
  readonly #active = new Set<Promise<void>>();
  #withdrawn: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  /** @param withdraw  removes the announcements on this machine and its networks */
  constructor(
    code: Code,
    owners: readonly Owner[],
    options: WaitOptions,
    reach: SenderReach,
    withdraw: () => Promise<void>,
  ) {
    this.code = code;
    this.#owners = owners;
    this.#options = options;
    this.#withdraw = withdraw;
    this.desk = new MeetingHost({
      code,
      candidates: () => reach.candidates(),
      onGuest: (candidates) => reach.holes.openTo(candidates),
      hasRoom: options.hasRoom,
      returnSecretOf: (attempt) => this.#secretOf(attempt),
      onWrongCode: options.onWrongCode,
      ...(options.onExhausted && { onExhausted: options.onExhausted }),
      ...(options.onLocked && { onLocked: options.onLocked }),
      signal: options.signal,
    });
  }

  /** The secret for the handshake that names this attempt; undefined if the attempt is not ours. */
  authOf(attempt: Uint8Array): Uint8Array | undefined {
    return this.desk.authOf(attempt) ?? this.#secretOf(attempt)?.auth;
  }

  #secretOf(attempt: Uint8Array): ReturnSecret | undefined {
    const { receivers, knownSecretOf } = this.#options;
    return receivers.secretOf(attempt) ?? knownSecretOf?.(attempt);
  }

  /** Serves a peer after its handshake. */
  async admit(peer: Omit<IncomingPeer, 'desk'>): Promise<void> {
    if (this.#closed !== undefined) return turnAway(peer, new KeibiError('PEER_BUSY'));
    const served = this.#options.serve({ ...peer, desk: this.desk }).finally(() => this.#active.delete(served));
    this.#active.add(served);
    await served;
  }

  /** Hides the code from new guests. Meetings that have begun run to their end. Idempotent. */
  withdraw(): Promise<void> {
    this.#withdrawn ??= this.#withdraw();
    return this.#withdrawn;
  }

  /** Resolves once every peer that has proved the code is served or refused, at the latest after COMING_MS. */
  settled(): Promise<void> {
    return this.desk.settled(AbortSignal.timeout(COMING_MS));
  }

  /** Withdraws the code, and resolves when no peer is served any more. The caller must end the running sessions. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.withdraw();
    for (const owner of this.#owners) owner.close();
    await Promise.allSettled(this.#active);
    this.desk.close();
  }
}
