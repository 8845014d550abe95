// SPDX-License-Identifier: MPL-2.0
import { RateBudget } from '@keibidrop/native';
import {
  type IncomingPeer,
  isLoss,
  ListeningPort,
  leftBehindWarning,
  pathOfIncoming,
  type Receiver,
  Receivers,
  type Waiting,
} from '@keibidrop/peer';
import { assertCodeStrength, type Code, KeibiError } from '@keibidrop/protocol';
import type { ReturnSecret } from '@keibidrop/session';
import type { ShareEvent } from '../share-events.ts';
import { ChangeFeed } from './change-feed.ts';
import { GuestLocks } from './guest-locks.ts';
import { type KnownGuest, KnownGuests } from './known-guests.ts';
import { MOST_PULLS, Pulls } from './pulls.ts';
import { ReplyCache } from './reply-cache.ts';
import { ShareFolder } from './share-folder.ts';
import type { ShareOptions } from './share-options.ts';
import { ShareSession } from './share-session.ts';

/** Concurrent codes: the one that people have, those of contacts, and one for each pull. */
const MOST_CODES = MOST_PULLS + 64;
/** The format of codes that are not typed. */
const INVITATION = { wordCount: 16, digits: 9 };
/** The limit of concurrent guests. */
const MOST_GUESTS = 256;

/**
 * Shares a folder until `signal`; resolves then.
 *
 * Any number of guests may come by the code, and a lost guest may return. A pull is a send of its own, with a code of its own, at the
 * same port.
 *
 * @throws USAGE, CODE_TOO_WEAK, CONFIG_INVALID, TRANSFER_SOURCE_* (the folder); RENDEZVOUS_BUSY;
 *         PEER_UNREACHABLE
 */
export async function share(options: ShareOptions): Promise<void> {
  const sharing = await openSharing(options);
  try {
    await sharing.ended;
  } finally {
    await sharing.close();
  }
}

/** A folder that is being shared. */
export interface Sharing {
  /** The folder's name for guests. */
  readonly name: string;
  /** Resolves once `signal` is aborted. */
  readonly ended: Promise<void>;
  /** Guests that may come again without the code, and how many others were forgotten in this run. */
  readonly guests: { readonly known: number; readonly forgotten: number };
  /** A code for one contact: the same share, under a code that cannot be guessed. @param known  its earlier code */
  invite(known?: Code): Promise<Code>;
  close(): Promise<void>;
}

/** Starts a share; the caller closes it. Throws as `share` does. */
export async function openSharing(options: ShareOptions): Promise<Sharing> {
  options.signal.throwIfAborted();
  if (options.code && !options.insecureCode) assertCodeStrength(options.code);
  const sharing = new OpenSharing(options, await ShareFolder.open(options.dir, options));
  try {
    await sharing.begin();
    return sharing;
  } catch (reason) {
    await sharing.close();
    throw reason;
  }
}

class OpenSharing implements Sharing {
  readonly ended: Promise<void>;
  readonly name: string;
  readonly #options: ShareOptions;
  readonly #folder: ShareFolder;
  readonly #changes: ChangeFeed;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  readonly #guests = new Receivers();
  readonly #port: ListeningPort;
  readonly #pulls: Pulls;
  readonly #budget: RateBudget;
  readonly #invited: Waiting[] = [];
  readonly #recent = new WeakMap<Receiver, ReplyCache>();
  readonly #knownAs = new WeakMap<Receiver, KnownGuest>();
  #known: KnownGuests | undefined;
  /** By the number of the guest. */
  readonly #locks = new Map<number, GuestLocks>();
  #resolve: () => void = () => {};

  constructor(options: ShareOptions, folder: ShareFolder) {
    const { listen, reach, suite, onEvent } = options;
    this.#options = options;
    this.#folder = folder;
    this.name = folder.name;
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
    this.#changes = new ChangeFeed(folder, (trouble) => onEvent(unwatched(trouble)));
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#port = new ListeningPort({
      listen,
      reach,
      suite,
      codes: MOST_CODES,
      onEvent: tellable(onEvent),
      signal: this.#signal,
    });
    this.#budget = new RateBudget(options.limitBytesPerSecond ?? 0);
    this.#pulls = new Pulls({ ...options, budget: this.#budget, port: this.#port, signal: this.#signal });
  }

  async begin(): Promise<void> {
    const { onEvent, code, wordCount, dir, signal } = this.#options;
    // Before any guest is answered: an unknown guest gives up. A new code has no guests.
    if (code !== undefined) this.#known = await this.#openKnown(code);
    const [waiting, leftBehind] = await Promise.all([
      this.#wait({ code, wordCount }),
      leftBehindWarning([{ path: dir, name: this.name }]),
    ]);
    if (leftBehind !== undefined) onEvent(leftBehind);
    this.#known ??= await this.#openKnown(waiting.code);
    const { host, port } = this.#port.listener;
    onEvent({ type: 'code', code: waiting.code.text });
    onEvent({ type: 'waiting', host, port });
    this.#port.begin();
    signal.addEventListener('abort', this.#resolve, { once: true });
    if (signal.aborted) this.#resolve();
  }

  get guests(): { known: number; forgotten: number } {
    const { count: known = 0, forgotten = 0 } = this.#known ?? {};
    return { known, forgotten };
  }

  async invite(known?: Code): Promise<Code> {
    return (await this.#wait({ ...INVITATION, code: known })).code;
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#resolve);
    await Promise.all(this.#invited.map((waiting) => waiting.withdraw()));
    this.#ending.abort(new KeibiError('SESSION_CLOSED', 'The share has ended.'));
    await Promise.all([...this.#invited.map((waiting) => waiting.close()), this.#pulls.close(), this.#changes.close()]);
    this.#guests.close();
    await Promise.all([...this.#locks.keys()].map((guest) => this.#giveUpLocks(guest)));
    await this.#port.close();
    const { aborted, reason } = this.#options.signal;
    // Only a share that was ended on purpose forgets its guests; one that failed, or will restart, does not.
    await this.#known?.close({ forget: aborted && !isLoss(reason) });
  }

  /** In memory if they cannot be kept. */
  #openKnown(code: Code): Promise<KnownGuests> {
    const { guests: place, onEvent } = this.#options;
    return KnownGuests.open({ place, code }).catch((reason) => {
      onEvent(notKept(reason));
      return KnownGuests.open({ place: undefined, code });
    });
  }

  async #wait(code: { code?: Code | undefined; wordCount?: number | undefined; digits?: number }): Promise<Waiting> {
    const { onEvent } = this.#options;
    const waiting = await this.#port.wait({
      ...code,
      receivers: this.#guests,
      knownSecretOf: (attempt) => this.#known?.secretOf(attempt),
      hasRoom: () => this.#guests.served < MOST_GUESTS,
      serve: (peer) => this.#serve(peer),
      onWrongCode: (remaining) => onEvent({ type: 'wrongCode', remaining }),
      onLocked: (milliseconds) => onEvent(locked(milliseconds)),
      signal: this.#signal,
    });
    this.#invited.push(waiting);
    return waiting;
  }

  async #serve(peer: IncomingPeer): Promise<void> {
    const guests = this.#guests;
    const { readOnly, label } = this.#options;
    const shared = {
      folder: this.#folder,
      changes: this.#changes,
      readOnly,
      label,
      budget: this.#budget,
      port: this.#port,
      signal: this.#signal,
    };
    let remembering: Promise<KnownGuest | undefined> | undefined;
    const session: ShareSession = new ShareSession(
      {
        ...shared,
        onGuest: (guest, name) => this.#greet(guest, name, peer),
        remember: async (guest, held, secret) => {
          remembering = this.#remember(guest, held, secret);
          return (await remembering) !== undefined;
        },
        recentOf: (guest) => this.#recentOf(guest),
        locksOf: (guest) => this.#locksOf(guest),
        invite: async (guest, paths) => this.#pulls.begin(guest, paths, await this.#folder.roots(paths)),
      },
      peer,
    );
    const error = await session
      .run({
        take: (returning) => this.#take(session, returning),
        takeBack: async (attempt, returning) =>
          (await guests.takeBack(attempt, session, returning)) ?? this.#takeKnown(attempt, session, returning),
      })
      .catch((reason) => KeibiError.from(reason, 'SESSION_LOST'));
    const known = await remembering;
    if (known !== undefined) this.#known?.leave(known);
    const { guest } = session;
    // A session that was replaced by another is not reported.
    if (guest === undefined || !guests.isServing(guest, session)) return;
    this.#part(guest, error ?? undefined);
  }

  #take(session: ShareSession, returning: ReturnSecret): Receiver {
    if (this.#guests.served >= MOST_GUESTS) throw new KeibiError('PEER_BUSY');
    return this.#guests.add(session, returning, Number.POSITIVE_INFINITY);
  }

  /** The guest of an earlier meeting, in a session that follows none; undefined if the attempt is unknown. */
  #takeKnown(attempt: Uint8Array, session: ShareSession, returning: ReturnSecret): Receiver | undefined {
    const known = this.#known?.guestOf(attempt);
    if (known === undefined) return undefined;
    const guest = this.#take(session, returning);
    this.#knownAs.set(guest, known);
    return guest;
  }

  async #remember(guest: Receiver, held: Uint8Array, secret: Uint8Array): Promise<KnownGuest | undefined> {
    try {
      const known = await this.#known?.remember(this.#knownAs.get(guest), held, secret);
      if (known !== undefined) this.#knownAs.set(guest, known);
      return known;
    } catch (reason) {
      if (!this.#signal.aborted) this.#options.onEvent(notKept(reason));
      return undefined;
    }
  }

  #recentOf(guest: Receiver): ReplyCache {
    const known = this.#recent.get(guest) ?? new ReplyCache();
    this.#recent.set(guest, known);
    return known;
  }

  #locksOf({ number }: Receiver): GuestLocks {
    const locks = this.#locks.get(number) ?? new GuestLocks(this.#folder);
    this.#locks.set(number, locks);
    locks.back();
    return locks;
  }

  async #giveUpLocks(guest: number): Promise<void> {
    const locks = this.#locks.get(guest);
    this.#locks.delete(guest);
    await locks?.close();
  }

  #greet(guest: Receiver, name: string, { incoming, keys }: IncomingPeer): void {
    const { reach, onEvent } = this.#options;
    guest.peer = name;
    this.#guests.prove(guest);
    const path = pathOfIncoming(incoming, this.#port.reach, reach);
    onEvent({ type: 'connected', path, suite: keys.suite, peer: name, session: guest.number });
  }

  #part(guest: Receiver, error: KeibiError | undefined): void {
    const mayReturn = error !== undefined && isLoss(error);
    if (mayReturn) {
      this.#guests.leave(guest);
      this.#locks.get(guest.number)?.leave(() => void this.#giveUpLocks(guest.number));
    } else {
      this.#guests.forget(guest);
      void this.#giveUpLocks(guest.number);
    }
    if (this.#signal.aborted) return;
    const { number: session, peer } = guest;
    if (error?.code === 'NOT_A_TRANSFER') {
      const message = `${peer} used the code with keibidrop receive. It is for keibidrop connect; the other side was informed.`;
      this.#options.onEvent({ type: 'warning', message });
    } else {
      this.#options.onEvent({ type: 'guestLeft', session, peer, mayReturn });
    }
  }
}

/** A port reports only events of both unions. */
function tellable(onEvent: (event: ShareEvent) => void): ConstructorParameters<typeof ListeningPort>[0]['onEvent'] {
  return (event) => {
    if (event.type === 'rendezvous' || event.type === 'mapping' || event.type === 'warning') onEvent(event);
  };
}

/** Guests that have joined before come back by secrets of their own, so a lock is for new ones. */
function locked(milliseconds: number): ShareEvent {
  const minutes = Math.round(milliseconds / 60_000);
  const time = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} hours`;
  return {
    type: 'warning',
    message: `Wrong codes were tried, so no new guest can join for ${time}. Guests who have joined before stay.`,
  };
}

function notKept(reason: unknown): ShareEvent {
  const { message } = KeibiError.from(reason, 'INTERNAL');
  return { type: 'warning', message: `Guests need the code after a new start of this share. ${message}` };
}

function unwatched({ code }: KeibiError): ShareEvent {
  const why =
    code === 'TRANSFER_LIMIT_EXCEEDED'
      ? 'the system watches no more folders (fs.inotify.max_user_watches)'
      : code === 'TRANSFER_SOURCE_MISSING'
        ? 'the folder is not there any more'
        : 'a part of it cannot be watched';
  return {
    type: 'warning',
    message: `Guests do not hear of every change: ${why}. They still see what is there when they look.`,
  };
}
