// SPDX-License-Identifier: MPL-2.0
import { assertInterface } from '@keibidrop/discovery';
import { RateBudget, type Root } from '@keibidrop/native';
import { assertCodeStrength, KeibiError, MAX_TEXT_BYTES } from '@keibidrop/protocol';
import type { SendOptions, SendResult } from '../api.ts';
import { ContactIntroduction } from '../contact-introduction.ts';
import type { IncomingPeer } from '../meeting/incoming-peer.ts';
import { ListeningPort, type Waiting } from '../meeting/listening-port.ts';
import { type Receiver, Receivers } from '../meeting/receivers.ts';
import { holdingBy } from '../pause-switch.ts';
import { isLoss } from '../session-end.ts';
import { leftBehindWarning } from './left-behind.ts';
import { OutgoingSession, type SessionOutcome } from './outgoing-session.ts';
import { checkSelection, resolveRoots } from './roots.ts';

const EXHAUSTED_WHILE_RUNNING =
  'The code was guessed wrong three times, so no one else can join. Running transfers continue.';

/**
 * Offers files, standard input or a text until enough receivers have been served.
 *
 * A lost receiver may return by itself and resumes. It may also start over with the same code, as another receiver may.
 *
 * @throws USAGE, CODE_TOO_WEAK, CODE_EXHAUSTED, CONFIG_INVALID (the port, the interface), TRANSFER_SOURCE_*; RENDEZVOUS_BUSY if
 * the code's number is taken; PEER_UNREACHABLE if only a relay may be used and there is none; OFFER_DECLINED if every receiver
 * declined; `signal.reason` on abort
 */
export async function send(options: SendOptions): Promise<SendResult> {
  options.signal.throwIfAborted();
  const { code, text } = options;
  if (code && !options.insecureCode) assertCodeStrength(code);
  if (text !== undefined && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'The text is longer than 1 MB. Send it as a file.');
  }
  // Two receivers would each get a part of the stream.
  if (options.stdin && options.receivers !== 1) throw new KeibiError('USAGE', 'Standard input has one receiver.');
  checkSelection(options.selection);
  assertInterface(options.reach.discovery);
  return sendRoots(options, text === undefined ? await resolveRoots(options.paths, options) : []);
}

/** Shared parts for a send that is one of several. */
export interface SendPlace {
  /** A shared port to wait at, instead of one of its own; `options.listen` is then ignored. */
  port?: ListeningPort | undefined;
  /** A shared rate limit; `options.limitBytesPerSecond` is then ignored. */
  budget?: RateBudget;
  /** Digits of the nameplate of a new code; absent: few, to be read aloud. */
  digits?: number;
}

/** Offers roots instead of `options.paths`. A given code is not checked for strength. Throws as `send`. */
export async function sendRoots(options: SendOptions, roots: Root[], place: SendPlace = {}): Promise<SendResult> {
  const sender = new Sender(options, roots, place);
  try {
    return await sender.run();
  } finally {
    await sender.close();
  }
}

class Sender {
  readonly #options: SendOptions;
  readonly #roots: Root[];
  readonly #place: SendPlace;
  readonly #budget: RateBudget;
  /** Ends every session when the send itself ends. */
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  readonly #served: SessionOutcome[] = [];
  readonly #receivers = new Receivers();
  readonly #saving: ContactIntroduction | undefined;
  #declined = 0;
  #exhausted: KeibiError | undefined;
  #port: ListeningPort | undefined;
  #waiting: Waiting | undefined;
  #resolve: () => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(options: SendOptions, roots: Root[], place: SendPlace) {
    this.#options = options;
    this.#roots = roots;
    this.#place = place;
    this.#budget = place.budget ?? new RateBudget(options.limitBytesPerSecond ?? 0);
    this.#saving = options.save && new ContactIntroduction(options.save, options.onEvent);
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
  }

  async run(): Promise<SendResult> {
    const { signal, onEvent } = this.#options;
    // A pull reports each such name to the guest that pulls.
    const roots = this.#place.port === undefined ? this.#roots : [];
    const [{ host, port }, leftBehind] = await Promise.all([this.#wait(), leftBehindWarning(roots)]);
    if (leftBehind !== undefined) onEvent(leftBehind);
    onEvent({ type: 'code', code: (this.#waiting as Waiting).code.text });
    onEvent({ type: 'waiting', host, port });
    if (this.#place.port === undefined) this.#port?.begin();
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
    // Other receivers may come with the code at the same time: each is notified that no place is left.
    await this.#waiting?.settled();
    return this.#result();
  }

  async close(): Promise<void> {
    // First withdraw, so that a guest with a last wrong guess still gets its refusal.
    await this.#waiting?.withdraw();
    this.#ending.abort(new KeibiError('SESSION_CLOSED', 'The sender has ended.'));
    await this.#waiting?.close();
    this.#receivers.close();
    if (this.#place.port === undefined) await this.#port?.close();
  }

  /** Announces this sender. @returns  its listener */
  async #wait(): Promise<ListeningPort['listener']> {
    const { listen, reach, suite, onEvent, code, wordCount } = this.#options;
    const port = this.#place.port ?? new ListeningPort({ listen, reach, suite, onEvent, signal: this.#signal });
    this.#port = port;
    this.#waiting = await port.wait({
      code,
      wordCount,
      digits: this.#place.digits,
      receivers: this.#receivers,
      hasRoom: () => this.#hasRoom(),
      serve: (peer) => this.#serve(peer),
      onWrongCode: (remaining) => onEvent({ type: 'wrongCode', remaining }),
      onExhausted: (error) => this.#exhaust(error),
      signal: this.#signal,
    });
    return port.listener;
  }

  /** Admits no more guests. Those that have the right code already are served to the end. */
  #exhaust(error: KeibiError): void {
    this.#exhausted = error;
    if (this.#receivers.size === 0) this.#reject(error);
    else this.#options.onEvent({ type: 'warning', message: EXHAUSTED_WHILE_RUNNING });
  }

  /** Absent receivers give up their places to present ones. */
  #hasRoom(): boolean {
    return this.#receivers.served < this.#places();
  }

  /** The number of receivers that may still be served. */
  #places(): number {
    const { receivers } = this.#options;
    return receivers === 0 ? Number.POSITIVE_INFINITY : receivers - this.#served.length - this.#declined;
  }

  async #serve(peer: IncomingPeer): Promise<void> {
    const receivers = this.#receivers;
    const shared = { send: this.#options, roots: this.#roots, budget: this.#budget, receivers, saving: this.#saving };
    // One per session, because Node warns of a leak when one signal has many listeners.
    const signal = AbortSignal.any([this.#signal]);
    const session = new OutgoingSession({ ...shared, port: this.#port as ListeningPort, signal }, peer);
    try {
      const outcome = await session.run({
        take: (returning) => {
          if (!this.#hasRoom()) throw new KeibiError('PEER_BUSY');
          return receivers.add(session, returning, this.#places());
        },
        takeBack: (attempt, returning) => receivers.takeBack(attempt, session, returning),
      });
      const { receiver } = session;
      if (receiver !== undefined && receivers.isServing(receiver, session)) this.#end(receiver, outcome);
    } catch (reason) {
      const { receiver } = session;
      // A session that another has replaced is not reported.
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
