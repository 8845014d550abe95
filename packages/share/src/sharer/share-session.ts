// SPDX-License-Identifier: MPL-2.0
import type { RateBudget } from '@keibidrop/native';
import {
  type Admission,
  admit,
  awaitRelayedLanes,
  heartbeatTimes,
  type IncomingPeer,
  type ListeningPort,
  lost,
  type Receiver,
  replaced,
  type ServingSession,
  watchOwnEnd,
} from '@keibidrop/peer';
import { type Code, KeibiError } from '@keibidrop/protocol';
import { openSession, punchResponder, RekeyResponder, refuseCall, type Session } from '@keibidrop/session';

import type { ChangeFeed } from './change-feed.ts';
import type { GuestLocks } from './guest-locks.ts';
import { OwnChanges } from './own-changes.ts';
import type { ReplyCache } from './reply-cache.ts';
import type { ShareFolder } from './share-folder.ts';
import { shareServiceFor } from './share-service.ts';
import { WriteHandlers } from './write-handlers.ts';

export interface ShareSessionOptions {
  folder: ShareFolder;
  changes: ChangeFeed;
  readOnly: boolean;
  /** This peer's own name. */
  label: string;
  /** The rate limit of all guests, for pulls and reads. */
  budget: RateBudget;
  port: Pick<ListeningPort, 'listener' | 'reach'>;
  /** The guest has introduced itself, for the first time in this session. */
  onGuest(guest: Receiver, label: string): void;
  /** Keeps this session's guest secret, which stays the caller's. @param held  as in InfoRequest @returns  whether it is kept */
  remember(guest: Receiver, held: Uint8Array, secret: Uint8Array): Promise<boolean>;
  /** The recent calls of a guest, over its sessions. */
  recentOf(guest: Receiver): ReplyCache;
  /** The locks of a guest, over its sessions. */
  locksOf(guest: Receiver): GuestLocks;
  /** Waits with these paths under a code of their own. @throws SHARE_*, PEER_BUSY */
  invite(guest: Receiver, paths: readonly string[]): Promise<Code>;
  signal: AbortSignal;
}

/** A guest requests the description at once. Another peer has mistaken the code for that of a transfer. */
const FIRST_WORD_MS = 3000;
const LEFT_NETWORK = 'This computer has left the network.';

/** One session with a guest of a share, until one of the two ends it. */
export class ShareSession implements ServingSession {
  readonly #options: ShareSessionOptions;
  readonly #peer: IncomingPeer;
  /** Cuts the session without a goodbye. */
  readonly #cut = new AbortController();
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #guest: Receiver | undefined;

  constructor(options: ShareSessionOptions, peer: IncomingPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Undefined until the guest is identified. */
  get guest(): Receiver | undefined {
    return this.#guest;
  }

  replace(): Promise<void> {
    this.#cut.abort(replaced());
    return this.#ended;
  }

  /** Serves until the guest leaves. @throws FRAME_*, SESSION_*, NOT_A_TRANSFER; `signal.reason` on abort */
  async run(admission: Admission): Promise<void> {
    try {
      await this.#serve(await admit(this.#peer, admission, this.#cut.signal));
    } finally {
      this.#end();
    }
  }

  async #serve(guest: Receiver): Promise<void> {
    const { folder, changes, readOnly, label, budget, port, signal, invite, remember, recentOf, locksOf } =
      this.#options;
    const { socket, keys } = this.#peer;
    this.#guest = guest;
    const over = new AbortController();
    let named = false;
    const memory = new OneMemory(keys.guestSecret, (held, secret) => remember(guest, held, secret));
    // A guest that cannot write cannot lock out others either.
    const locks = readOnly ? undefined : locksOf(guest);
    const inPlace = folder.serveInPlace(budget, readOnly, locks?.table);
    const own = new OwnChanges((path) => folder.look(path));
    const service = shareServiceFor({
      folder,
      changes,
      own,
      writes: new WriteHandlers(folder.writes(readOnly), inPlace, own, recentOf(guest), locks),
      info: {
        label,
        name: folder.name,
        readOnly,
        reads: true,
        writes: !readOnly,
        id: folder.id,
        batches: true,
        remembers: false,
        locks: locks?.number,
      },
      onGuest: (name) => {
        if (!named) this.#options.onGuest(guest, name);
        named = true;
      },
      remember: (held) => memory.remember(held),
      invite: (paths) => invite(guest, paths),
      signal: AbortSignal.any([signal, over.signal]),
    });
    inPlace.expectLanes(port.listener, keys);
    const stopRelaying = awaitRelayedLanes(this.#peer, port);
    const { rekey, rekeyReady } = new RekeyResponder((number, secret) => inPlace.rekey(number, secret));
    const session = openSession(socket, keys, 'responder', {
      peerService: {
        transfer: refuseCall,
        digests: refuseCall,
        rekey,
        rekeyReady,
        punch: punchResponder((place) => port.reach.holes.open(place)),
      },
      services: [service],
      heartbeat: heartbeatTimes(),
      signal: this.#cut.signal,
    });
    keys.wipe();
    const silence = setTimeout(() => {
      if (!named) void session.close(new KeibiError('NOT_A_TRANSFER'));
    }, FIRST_WORD_MS);
    const unwatch = watchOwnEnd(socket, () => this.#cut.abort(new KeibiError('SESSION_LOST', LEFT_NETWORK)));
    const onAbort = () => void session.close(KeibiError.from(signal.reason, 'SESSION_CLOSED'));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await ended(session);
    } finally {
      over.abort();
      memory.close();
      clearTimeout(silence);
      unwatch();
      signal.removeEventListener('abort', onAbort);
      stopRelaying();
      await inPlace.close();
    }
  }
}

/** A session's guest secret, which is kept once, however often the guest asks for it. */
class OneMemory {
  readonly #secret: Uint8Array;
  readonly #keep: (held: Uint8Array, secret: Uint8Array) => Promise<boolean>;
  #kept: Promise<boolean> | undefined;

  /** @param secret  copied */
  constructor(secret: Uint8Array, keep: (held: Uint8Array, secret: Uint8Array) => Promise<boolean>) {
    this.#secret = secret.slice();
    this.#keep = keep;
  }

  remember(held: Uint8Array): Promise<boolean> {
    this.#kept ??= this.#keep(held, this.#secret);
    return this.#kept;
  }

  close(): void {
    const wipe = () => void this.#secret.fill(0);
    if (this.#kept === undefined) wipe();
    else void this.#kept.finally(wipe);
  }
}

/** Resolves when the session has ended with a goodbye that gave no reason. */
async function ended(session: Session): Promise<void> {
  if ((await session.closed) === undefined) return;
  await lost(session);
}
