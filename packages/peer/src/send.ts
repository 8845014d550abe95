// SPDX-License-Identifier: MPL-2.0
import { randomBytes, randomInt } from 'node:crypto';
import { Socket } from 'node:net';
import { announce, announceOnLan, assertInterface } from '@keibidrop/discovery';
import { type Incoming, Listener, RateBudget, type Root } from '@keibidrop/native';
import {
  assertCodeStrength,
  type Code,
  createCode,
  KeibiError,
  MAX_TEXT_BYTES,
  mailboxOf,
  type Owner,
} from '@keibidrop/protocol';
import { RendezvousServer } from '@keibidrop/server';
import { prepareHandshake, warmUpHandshakes } from '@keibidrop/session';
import type { ListenAddress, SendOptions, SendResult } from './api.ts';
import { MeetingDesk } from './meeting-desk.ts';
import { OutgoingSession, type SessionOutcome } from './outgoing-session.ts';
import { holdingBy } from './pause-switch.ts';
import { type Receiver, Receivers } from './receivers.ts';
import { resolveRoots } from './roots.ts';
import { SenderReach } from './sender-reach.ts';
import { isLoss } from './session-end.ts';

const DEFAULT_WORDS = 2;
/** Nameplates of generated codes are short, to be read aloud: a machine has few senders, a public rendezvous many. */
const NAMEPLATES = 1000;
const PUBLIC_NAMEPLATES = 100_000;
const NAMEPLATE_TRIES = 20;
/** A sender that only a relay may lead to still has a listener, which joins relays; nobody else can dial it. */
const NOWHERE: ListenAddress = { host: '127.0.0.1', port: 0, orAnyPort: true };
/** Connections at once that have not yet shown that they know the code; one more ends the oldest, so that silent ones keep nobody out. */
const MAX_HANDSHAKES = 64;
/** More digits are drawn after so many nameplates that were taken. */
const TRIES_OF_ONE_LENGTH = 4;
const EXHAUSTED_WHILE_RUNNING = 'The code was guessed wrong three times, so nobody else can join. What runs goes on.';

/**
 * Offers files, standard input or a text until enough receivers have been served.
 *
 * A receiver that is lost in the middle may come back by itself and goes on where it was, or with the same code, as another may.
 *
 * @throws USAGE, CODE_TOO_WEAK, CODE_EXHAUSTED, CONFIG_INVALID (the port, the interface), TRANSFER_SOURCE_*; RENDEZVOUS_BUSY if the code's
 *         number is taken; PEER_UNREACHABLE if only a relay is to be used and there is none; OFFER_DECLINED if every receiver declined;
 *         `signal.reason` on abort
 */
export async function send(options: SendOptions): Promise<SendResult> {
  options.signal.throwIfAborted();
  const { code, text } = options;
  if (code && !options.insecureCode) assertCodeStrength(code);
  if (text !== undefined && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'The text is longer than 1 MiB. Send it as a file.');
  }
  assertInterface(options.reach.discovery);
  return sendRoots(options, text === undefined ? await resolveRoots(options.paths, options.stdin === true) : []);
}

/** Offers roots, whatever `options.paths` says; a code is taken as it is. Throws as `send` does. */
export async function sendRoots(options: SendOptions, roots: Root[]): Promise<SendResult> {
  const sender = new Sender(options, roots);
  try {
    return await sender.run();
  } finally {
    await sender.close();
  }
}

class Sender {
  readonly #options: SendOptions;
  readonly #roots: Root[];
  readonly #budget: RateBudget;
  readonly #rendezvous = new RendezvousServer();
  /** Ends every session when the send itself ends. */
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  readonly #active = new Set<Promise<void>>();
  readonly #served: SessionOutcome[] = [];
  readonly #receivers = new Receivers();
  #declined = 0;
  /** Ends a handshake, in the order they began. */
  readonly #handshakes = new Set<AbortController>();
  #exhausted: KeibiError | undefined;
  #listener: Listener | undefined;
  #reach: SenderReach | undefined;
  #desk: MeetingDesk | undefined;
  #withdraw: (() => Promise<void>) | undefined;
  /** Takes back what the networks were told. */
  #silence: (() => Promise<void>) | undefined;
  #resolve: () => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(options: SendOptions, roots: Root[]) {
    this.#options = options;
    this.#roots = roots;
    this.#budget = new RateBudget(options.limitBytesPerSecond ?? 0);
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
  }

  async run(): Promise<SendResult> {
    const { signal, onEvent, reach: asked } = this.#options;
    const listener = openListener(asked.relayOnly ? NOWHERE : this.#options.listen, (incoming) =>
      this.#accept(incoming),
    );
    this.#listener = listener;
    const { host, port } = listener;
    const reach = new SenderReach({ listener, reach: asked, onEvent, signal: this.#signal });
    this.#reach = reach;
    const { code, owners } = await this.#announce(listener, reach);
    const desk = new MeetingDesk({
      code,
      candidates: () => reach.candidates(),
      onGuest: (candidates) => reach.holes.openTo(candidates),
      hasRoom: () => this.#hasRoom(),
      returnSecretOf: (attempt) => this.#receivers.secretOf(attempt),
      onWrongCode: (remaining) => onEvent({ type: 'wrongCode', remaining }),
      onExhausted: (error) => this.#exhaust(error),
      signal: this.#signal,
    });
    const mailbox = mailboxOf(code.nameplate);
    if (!asked.relayOnly) this.#silence = announceOnLan(mailbox, listener, { discovery: asked.discovery });
    this.#desk = desk;
    for (const owner of owners) void desk.serve(owner);
    onEvent({ type: 'code', code: code.text });
    onEvent({ type: 'waiting', host, port });
    reach.begin();
    // What the first receiver would otherwise wait for is loaded while nobody waits.
    void Promise.all([this.#rendezvous.ready(), warmUpHandshakes()]).catch(() => {});
    const onAbort = () => this.#reject(signal.reason);
    const release = this.#options.pausing?.drive(holdingBy(this.#budget, onEvent));
    try {
      await new Promise<void>((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
      });
    } finally {
      release?.();
      signal.removeEventListener('abort', onAbort);
    }
    return this.#result();
  }

  async close(): Promise<void> {
    await Promise.all([this.#withdraw?.(), this.#silence?.(), this.#reach?.close()]);
    this.#ending.abort(new KeibiError('SESSION_CLOSED', 'The sender has ended.'));
    await Promise.allSettled(this.#active);
    this.#desk?.close();
    this.#receivers.close();
    await this.#rendezvous.close();
    await this.#listener?.close();
  }

  /** Makes this sender known to the machine and to the public rendezvous; a generated code is drawn until its nameplate is free at both. */
  async #announce(listener: Listener, reach: SenderReach): Promise<{ code: Code; owners: Owner[] }> {
    const { code: given, wordCount = DEFAULT_WORDS } = this.#options;
    const count = this.#options.reach.rendezvous === undefined ? NAMEPLATES : PUBLIC_NAMEPLATES;
    for (let tries = 0; ; tries++) {
      const length = 10 ** Math.floor(tries / TRIES_OF_ONE_LENGTH);
      const nameplate = String(randomInt(1, count * length));
      const code = given ?? createCode({ nameplate, wordCount, randomBytes: (bytes) => randomBytes(bytes) });
      try {
        return { code, owners: await this.#own(mailboxOf(code.nameplate), listener, reach) };
      } catch (reason) {
        const taken = reason instanceof KeibiError && reason.detail?.taken === true;
        if (given || !taken || tries + 1 === NAMEPLATE_TRIES) throw reason;
      }
    }
  }

  /** Where only a relay may be used nobody is to meet us here. */
  async #own(mailbox: string, listener: Listener, reach: SenderReach): Promise<Owner[]> {
    const { relayOnly } = this.#options.reach;
    const withdraw = relayOnly ? async () => {} : await announce(mailbox, listener);
    try {
      const remote = await reach.own(mailbox);
      this.#withdraw = withdraw;
      return [...(relayOnly ? [] : [this.#rendezvous.own(mailbox)]), ...(remote === undefined ? [] : [remote])];
    } catch (reason) {
      await withdraw();
      throw reason;
    }
  }

  /** Nobody else can join; who has the right code already is served to the end. */
  #exhaust(error: KeibiError): void {
    this.#exhausted = error;
    if (this.#receivers.size === 0) this.#reject(error);
    else this.#options.onEvent({ type: 'warning', message: EXHAUSTED_WHILE_RUNNING });
  }

  /** Whoever is away gives its place to one who is here. */
  #hasRoom(): boolean {
    return this.#receivers.served < this.#places();
  }

  /** How many receivers there may be that have not got everything yet. */
  #places(): number {
    const { receivers } = this.#options;
    return receivers === 0 ? Number.POSITIVE_INFINITY : receivers - this.#served.length - this.#declined;
  }

  #accept(incoming: Incoming): void {
    if (this.#options.reach.relayOnly && !incoming.relayed) {
      socketOf(incoming).destroy();
      return;
    }
    if (incoming.kind === 'rendezvous') {
      this.#attach(incoming);
      return;
    }
    const [oldest] = this.#handshakes;
    if (oldest !== undefined && this.#handshakes.size >= MAX_HANDSHAKES) {
      this.#handshakes.delete(oldest);
      oldest.abort(new KeibiError('PEER_BUSY'));
    }
    const session = this.#serve(incoming).finally(() => this.#active.delete(session));
    this.#active.add(session);
  }

  #attach(incoming: Incoming): void {
    this.#rendezvous.attach(socketOf(incoming));
  }

  async #serve(incoming: Incoming): Promise<void> {
    const desk = this.#desk as MeetingDesk;
    const listener = this.#listener as Listener;
    const reach = this.#reach as SenderReach;
    const prepared = prepareHandshake('responder');
    const handshake = new AbortController();
    this.#handshakes.add(handshake);
    const signal = AbortSignal.any([this.#signal, handshake.signal]);
    const receivers = this.#receivers;
    const shared = { send: this.#options, roots: this.#roots, budget: this.#budget, listener, reach, desk, receivers };
    const session = new OutgoingSession({ ...shared, prepared, signal }, incoming);
    try {
      const outcome = await session.run({
        take: (returning) => {
          this.#handshakes.delete(handshake);
          if (!this.#hasRoom()) throw new KeibiError('PEER_BUSY');
          return receivers.add(session, returning, this.#places());
        },
        takeBack: (attempt, returning) => {
          this.#handshakes.delete(handshake);
          return receivers.takeBack(attempt, session, returning);
        },
      });
      const { receiver } = session;
      if (receiver !== undefined && receivers.isServing(receiver, session)) this.#end(receiver, outcome);
    } catch (reason) {
      this.#handshakes.delete(handshake);
      const { receiver } = session;
      // Of a session that another has replaced nobody has to hear.
      if (receiver === undefined || !receivers.isServing(receiver, session)) return;
      this.#lose(receiver, KeibiError.from(reason, 'SESSION_LOST'));
    }
  }

  #end(receiver: Receiver, outcome: SessionOutcome): void {
    const { failed, ...counts } = outcome;
    this.#receivers.forget(receiver);
    this.#served.push(outcome);
    this.#options.onEvent({ type: 'receiverDone', session: receiver.number, ...counts, failed: failed.length });
    this.#endIfAllServed();
  }

  #lose(receiver: Receiver, error: KeibiError): void {
    const mayReturn = isLoss(error) && !this.#options.stdin;
    if (mayReturn) this.#receivers.leave(receiver);
    else this.#receivers.forget(receiver);
    if (this.#signal.aborted) return;
    if (error.code === 'OFFER_DECLINED') this.#declined++;
    const { number, peer } = receiver;
    const { code, message } = error;
    this.#options.onEvent({ type: 'receiverLost', session: number, peer, code, message, mayReturn });
    // Standard input cannot be read twice.
    if (this.#options.stdin) this.#reject(error);
    else this.#endIfAllServed(error);
  }

  #endIfAllServed(error?: KeibiError): void {
    const { receivers } = this.#options;
    if (receivers === 0 || this.#served.length + this.#declined < receivers) {
      if (this.#exhausted && this.#receivers.size === 0) this.#reject(this.#exhausted);
      return;
    }
    if (this.#served.length === 0 && error) this.#reject(error);
    else this.#resolve();
  }

  #result(): SendResult {
    const sum = (of: (outcome: SessionOutcome) => number) => this.#served.reduce((total, one) => total + of(one), 0);
    const counts = {
      files: sum(({ files }) => files),
      bytes: sum(({ bytes }) => bytes),
      skipped: sum(({ skipped }) => skipped),
      resumedBytes: sum(({ resumedBytes }) => resumedBytes),
      seconds: Math.max(0, ...this.#served.map(({ seconds }) => seconds)),
    };
    const failed = this.#served.flatMap((outcome) => outcome.failed);
    this.#options.onEvent({ type: 'done', ...counts, failed: failed.length });
    return { ...counts, failed, receivers: this.#served.length };
  }
}

function socketOf({ fd }: Incoming): Socket {
  return new Socket({ fd, readable: true, writable: true });
}

/** @throws CONFIG_INVALID when the port that was asked for by name cannot be had */
function openListener(listen: ListenAddress, onConnection: (incoming: Incoming) => void): Listener {
  const { host, port, orAnyPort } = listen;
  // A machine without IPv6 still has every IPv4 address.
  const withoutIpv6 = () => openListener({ ...listen, host: '0.0.0.0' }, onConnection);
  try {
    return Listener.open({ host, port, onConnection });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (orAnyPort && code === 'EADDRINUSE') return Listener.open({ host, port: 0, onConnection });
    if (host === '::' && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL')) return withoutIpv6();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeibiError(
      'CONFIG_INVALID',
      `Cannot listen on ${host}, port ${port} (${why}). Choose another with --listen.`,
      {
        cause,
      },
    );
  }
}
