// SPDX-License-Identifier: MPL-2.0

import type { HostPort } from '@keibidrop/discovery';
import type { RateBudget } from '@keibidrop/native';
import {
  type FoundSender,
  isLoss,
  type MeetOptions,
  PATIENCE_MS,
  pause,
  type ReachedSender,
  type ReceiveResult,
  ReconnectCredentials,
  receive,
} from '@keibidrop/peer';
import { type FetchReply, ShareService } from '@keibidrop/proto';
import {
  type Code,
  checkSharePath,
  type ErrorCode,
  KeibiError,
  parseCode,
  type ShareEntry,
  type ShareListing,
  type ShareNotice,
} from '@keibidrop/protocol';
import { ReturnSecret } from '@keibidrop/session';
import { checkedEntry, checkedNotice, ListingCheck, type ShareInfo } from '../share-entries.ts';
import type { ConnectOptions, PullOptions } from './connect-options.ts';
import { GuestSession, unary } from './guest-session.ts';
import { ShareInMemory, type ShareMemory } from './known-shares.ts';
import { type MeetShareOptions, meetShare } from './meet-share.ts';
import { createPendingSession, isSettled, messagesOf, type PendingSession, within } from './pending-session.ts';
import { Semaphore } from './semaphore.ts';
import { ShareReads } from './share-reads.ts';
import { ShareWrites } from './share-writes.ts';

/** Kinds of candidates that work for one session only. */
const USED_UP: readonly string[] = ['relay', 'punched'];
/** The sharing peer may be restarted, and then waits under the same code. */
const MAY_COME: readonly ErrorCode[] = [
  'RENDEZVOUS_NOT_FOUND',
  'RENDEZVOUS_UNREACHABLE',
  'RENDEZVOUS_BUSY',
  'PEER_UNREACHABLE',
  'PEER_BUSY',
  'HANDSHAKE_TIMEOUT',
  'SESSION_LOST',
];
/** Concurrent calls: a sharing peer takes 32 (PROTOCOL 11), and refuses more. */
const MOST_CALLS = 24;
/** Pauses while looking for a peer that has ended: the first, doubled each time, and the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

const NOT_IN_PLACE =
  'The computer that shares cannot be read in place: its KeibiDrop is older. Use keibidrop pull, or update it there.';

/**
 * A guest of a share, over as many sessions as the network makes of it; also over a new start of the peer, if it waits under the same code
 * and knows this guest still.
 *
 * A call waits while there is no session, for as long as its `signal` allows, and rejects once there is to be none any more.
 */
export class ShareGuest {
  /** Settles when it is over: resolves after `close`, rejects with any other end. */
  readonly closed: Promise<void>;
  readonly #options: ConnectOptions;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  readonly #way: ReconnectCredentials;
  readonly #slots = new Semaphore(MOST_CALLS);
  #turn: PendingSession = createPendingSession();
  #info: ShareInfo | undefined;
  #reached: ReachedSender | undefined;
  #session: GuestSession | undefined;
  #reads: ShareReads | undefined;
  #writes: ShareWrites | undefined;
  readonly #memory: ShareMemory;
  #remembered: boolean;

  /**
   * Meets the sharer under a code, by the secret of an earlier meeting if there is one.
   *
   * @throws NOT_A_SHARE, SHARE_FORGOTTEN; what `receive` throws of meeting; `signal.reason` on abort
   */
  static async connect(options: ConnectOptions): Promise<ShareGuest> {
    options.signal.throwIfAborted();
    const onEvent: MeetOptions['onEvent'] = (event) => event.type === 'looking' && options.onEvent(event);
    const { memory = new ShareInMemory(), met = false, codeGiven = true } = options;
    const meeting: MeetShareOptions = { ...options, memory, met, codeGiven, onEvent };
    const sharer = await meetShare(meeting).catch((reason) => {
      memory.close();
      throw reason;
    });
    const guest = new ShareGuest({ ...options, memory }, sharer);
    await Promise.race([guest.#turn.up, guest.closed]);
    return guest;
  }

  private constructor(options: ConnectOptions & { memory: ShareMemory }, met: FoundSender) {
    this.#options = options;
    this.#memory = options.memory;
    this.#remembered = options.met ?? false;
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
    const onEvent: MeetOptions['onEvent'] = (event) => event.type === 'reconnecting' && options.onEvent(event);
    this.#way = new ReconnectCredentials({ ...options, signal: this.#signal, onEvent, mayBeginAnew: true });
    this.#way.begin(met);
    this.closed = this.#run(met.reached);
    this.closed.catch(() => {});
  }

  /** The share's latest description. */
  get info(): ShareInfo {
    return this.#info as ShareInfo;
  }

  /** Whether the next meeting with the share needs no code. */
  get isRemembered(): boolean {
    return this.#remembered;
  }

  /** Where the peer was reached last, if it can be reached there more than once. */
  get place(): HostPort | undefined {
    const { candidate } = this.#reached ?? {};
    return candidate === undefined || USED_UP.includes(candidate.transport) ? undefined : candidate;
  }

  /** One entry; '' is the share. @throws SHARE_*, SESSION_*, TRANSFER_*, HANDSHAKE_MALFORMED; `signal.reason` on abort */
  async stat(path: string, { signal }: { signal: AbortSignal }): Promise<ShareEntry> {
    checkSharePath(path);
    const { entry } = await this.#call(signal, (session) => session.call(ShareService.stat, { path }, { signal }));
    return checkedEntry(entry, path === '' ? this.info.name : path.slice(path.lastIndexOf('/') + 1));
  }

  /** The disk space of the share. Throws as `stat` does. */
  async space({ signal }: { signal: AbortSignal }): Promise<{ totalBytes: number; freeBytes: number }> {
    const { totalBytes, freeBytes } = await this.#call(signal, (session) =>
      session.call(ShareService.space, {}, { signal }),
    );
    return { totalBytes, freeBytes };
  }

  /** The parts of a directory. Throws as `stat` does. A lost session ends it; the caller may retry in the next one. */
  async *list(path: string, { signal }: { signal: AbortSignal }): AsyncGenerator<ShareListing> {
    checkSharePath(path);
    const turn = this.#turn;
    const session = await within(turn.up, signal);
    const check = new ListingCheck();
    try {
      for await (const page of messagesOf(session.client.list({ path }), signal)) {
        yield { entries: check.add(page), leftOut: page.leftOut };
      }
    } catch (reason) {
      signal.throwIfAborted();
      const cause = await session.causeOf(reason);
      // In a session that is over calls fail at once: a caller that retries would starve the event loop.
      if (isLoss(cause)) await within(turn.over, signal);
      throw cause;
    }
  }

  /**
   * Yields changes until `signal`, over lost sessions: the first notice after one sets `lookAgain`.
   *
   * @param options.withoutOwn  leaves out changes made by `writes`, unless another has changed them since
   *
   * Throws as `stat` does.
   */
  async *watch({
    signal,
    withoutOwn = false,
  }: {
    signal: AbortSignal;
    withoutOwn?: boolean;
  }): AsyncGenerator<ShareNotice> {
    for (let lookAgain = false; ; lookAgain = true) {
      const turn = this.#turn;
      const session = await within(turn.up, signal);
      try {
        for await (const notice of messagesOf(session.client.watch({ withoutOwn }), signal)) {
          const checked = checkedNotice(notice);
          yield { ...checked, lookAgain: checked.lookAgain || lookAgain };
          lookAgain = false;
        }
        throw new KeibiError('SESSION_LOST');
      } catch (reason) {
        signal.throwIfAborted();
        const cause = await session.causeOf(reason);
        if (!isLoss(cause)) throw cause;
        await within(turn.over, signal);
      }
    }
  }

  /** A code by which one receiver gets these paths, each under its last name; '' is all of the share. Throws as `stat` does. */
  async invitation(paths: readonly string[], { signal }: { signal: AbortSignal }): Promise<Code> {
    const asked = paths.map(checkSharePath);
    const { code } = await this.#call(signal, (session) =>
      unary<FetchReply>((done) => session.client.fetch({ paths: asked }, done), { signal }),
    );
    return parseCode(code);
  }

  /** Receives paths of the share. Throws as `invitation` and `receive` do. */
  async pull(paths: readonly string[], options: PullOptions): Promise<ReceiveResult> {
    const code = await this.invitation(paths, options);
    const { reach, suite, label, connect } = this.#options;
    return receive({ ...options, code, reach, suite, label, connect, near: this.place });
  }

  /**
   * What reads files of the share in place, from now on until the guest's end. One for a guest: called again it is the same.
   *
   * @throws MOUNT_UNAVAILABLE if the peer cannot be read so
   */
  reads(options: { budget?: RateBudget | undefined } = {}): ShareReads {
    if (!this.info.reads) throw new KeibiError('MOUNT_UNAVAILABLE', NOT_IN_PLACE);
    if (this.#reads === undefined) {
      this.#reads = new ShareReads(options);
      if (this.#session !== undefined) this.#reads.begin(this.#session);
    }
    return this.#reads;
  }

  /** The writer of the share, likewise; undefined if it is read-only. */
  writes(options: { budget?: RateBudget | undefined } = {}): ShareWrites | undefined {
    if (this.#writes === undefined && this.info.writes) {
      this.#writes = new ShareWrites((signal, work) => this.#inSession(signal, work), options);
      if (this.#session !== undefined) this.#writes.begin(this.#session, this.info);
    }
    return this.#writes;
  }

  /** Says goodbye. Resolves when everything is freed. Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort(new KeibiError('SESSION_CLOSED'));
    await this.closed.catch(() => {});
  }

  async #run(first: ReachedSender): Promise<void> {
    try {
      for (let reached = first; ; ) {
        const reason = await this.#serve(reached).catch((failure: unknown) => failure);
        if (this.#ending.signal.aborted) return;
        reached = await this.#comeBack(endOf(reason));
      }
    } catch (reason) {
      if (this.#ending.signal.aborted) return;
      this.#ending.abort(reason);
      // The share has ended, and its sharer has dropped the secrets of its guests too.
      if (reason instanceof KeibiError && reason.code === 'SESSION_CLOSED') await this.#memory.forget();
      throw reason;
    } finally {
      this.#turn.reject(this.#ending.signal.reason);
      this.#turn.end();
      this.#way.close();
      this.#memory.close();
      const { reason } = this.#ending.signal;
      await Promise.all([this.#reads?.close(reason), this.#writes?.close(reason)]);
    }
  }

  /** Serves one session to its end. @throws the reason it ended */
  async #serve(reached: ReachedSender): Promise<void> {
    this.#reached = reached;
    const { path, tried } = reached;
    const { suite } = reached.keys;
    const secret = reached.keys.guestSecret.slice();
    const session = new GuestSession(reached, this.#options.reach);
    const onAbort = () => void session.close();
    this.#signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.#info = await this.#begin(session, secret);
      this.#way.prove();
      this.#options.onEvent({ type: 'connected', path, suite, peer: this.#info.peer, session: 1, tried });
      this.#session = session;
      this.#turn.resolve(session);
      this.#reads?.begin(session);
      this.#writes?.begin(session, this.#info);
      await session.ended();
    } finally {
      secret.fill(0);
      this.#session = undefined;
      await Promise.all([this.#reads?.end(), this.#writes?.end()]);
      this.#signal.removeEventListener('abort', onAbort);
      const { end } = this.#turn;
      if (await isSettled(this.#turn.up)) this.#turn = createPendingSession();
      end();
    }
  }

  /** Requests the share's description, and keeps the session's secret once the peer has kept it, so both always have a common one. */
  async #begin(session: GuestSession, secret: Uint8Array): Promise<ShareInfo> {
    const { label } = this.#options;
    const before = await this.#memory.secret().catch(() => undefined);
    const held = before && (await ReturnSecret.ofGuest(before)).attempt;
    before?.fill(0);
    const { info, remembers } = await session.begin(label, { held, signal: this.#signal });
    if (remembers) {
      try {
        await this.#memory.keep(secret);
        this.#remembered = true;
      } catch (reason) {
        this.#options.onTrouble?.(KeibiError.from(reason, 'INTERNAL'));
      }
    }
    return info;
  }

  /** @throws what ended the share; `signal.reason` on abort */
  async #comeBack(reason: unknown): Promise<ReachedSender> {
    try {
      return await this.#way.comeBack(reason);
    } catch (gone) {
      this.#signal.throwIfAborted();
      const { patienceMs = PATIENCE_MS } = this.#options;
      if (patienceMs === 0 || !isLoss(gone)) throw gone;
      return this.#meetAnew(gone, performance.now() + patienceMs);
    }
  }

  /** The peer has ended, perhaps to begin again under the same code. One that does not know us, or a wrong code, ends it at once. */
  async #meetAnew(gone: KeibiError, deadline: number): Promise<ReachedSender> {
    for (let attempt = 1, pauseMs = FIRST_PAUSE_MS; ; attempt++, pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      this.#options.onEvent({
        type: 'reconnecting',
        reason: 'The share is not there any more.',
        attempt,
        nextInMs: pauseMs,
      });
      await pause(pauseMs, this.#signal);
      try {
        const met = await meetShare({
          ...this.#options,
          memory: this.#memory,
          met: this.#remembered,
          codeGiven: false,
          signal: this.#signal,
          onEvent: () => {},
        });
        this.#way.begin(met);
        return met.reached;
      } catch (reason) {
        this.#signal.throwIfAborted();
        const mayCome = reason instanceof KeibiError && MAY_COME.includes(reason.code);
        if (!mayCome) throw reason;
        if (performance.now() > deadline) throw gone;
      }
    }
  }

  /** A call that can be repeated in another session. */
  #call<Reply>(signal: AbortSignal, work: (session: GuestSession) => Promise<Reply>): Promise<Reply> {
    return this.#slots.run({ signal }, () => this.#inSession(signal, work));
  }

  async #inSession<Reply>(signal: AbortSignal, work: (session: GuestSession) => Promise<Reply>): Promise<Reply> {
    for (;;) {
      const turn = this.#turn;
      const session = this.#session ?? (await within(turn.up, signal));
      try {
        return await work(session);
      } catch (reason) {
        signal.throwIfAborted();
        const cause = await session.causeOf(reason);
        if (!isLoss(cause)) throw cause;
        await within(turn.over, signal);
      }
    }
  }
}

/** The reason a session ended, worded for a share. */
function endOf(reason: unknown): unknown {
  if (!(reason instanceof KeibiError && reason.code === 'SESSION_CLOSED') || isLoss(reason)) return reason;
  return new KeibiError('SESSION_CLOSED', 'The share has ended: the computer that shares has closed it.', {
    cause: reason,
  });
}
