// SPDX-License-Identifier: MPL-2.0
import type { FoundSourceLock, SourceLock, SourceLocks } from '@keibidrop/mount';
import { LockKind, type LockRequest, ShareService } from '@keibidrop/proto';
import { callFailure, checkSharePath, KeibiError, messageFor, type ShareEntry } from '@keibidrop/protocol';
import { checkedEntry } from '../share-entries.ts';
import type { GuestSession } from './guest-session.ts';
import { within } from './pending-session.ts';
import type { InSession } from './share-puts.ts';

type Options = { signal: AbortSignal };
type Range = { start: number; length: number };

const KINDS = { shared: LockKind.SHARED, exclusive: LockKind.EXCLUSIVE } as const;
/** Never aborted: a lock call is always completed, so that both sides agree. */
const NEVER = new AbortController().signal;

/** Takes locks at a share, over all sessions of the guest. Calls for one file run one after another. */
export class ShareLocks implements SourceLocks {
  readonly #inSession: InSession;
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #paths = new Map<number, string>();
  #number: number | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(inSession: InSession) {
    this.#inSession = inSession;
  }

  /** A session is up. @param number  of the guest's locks at the peer; absent: it has none */
  begin(number: number | undefined): void {
    if (this.#number !== undefined && this.#number !== number) {
      this.#paths.clear();
      for (const lost of this.#listeners) lost();
    }
    this.#number = number;
  }

  onLost(lost: () => void): () => void {
    // A new function each time: a caller may register the same one twice.
    const listener = () => lost();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async lock(path: string, lock: SourceLock, { signal }: Options): Promise<{ holder: number; entry: ShareEntry }> {
    const request = requestOf(path, lock);
    const { holder, entry } = await this.#next(path, signal, (session) =>
      session.call(ShareService.lock, request, { signal: NEVER }),
    );
    this.#paths.set(holder, path);
    return { holder, entry: checkedEntry(entry, path.slice(path.lastIndexOf('/') + 1)) };
  }

  async unlock(holder: number, { start, length }: Range, { signal }: Options): Promise<boolean> {
    const number = this.#number;
    return this.#next(this.#paths.get(holder) ?? '', signal, async (session) => {
      // It was released with the old locks.
      if (number !== this.#number) return false;
      const { left } = await session.call(ShareService.unlock, { holder, start, length }, { signal: NEVER });
      if (!left) this.#paths.delete(holder);
      return left;
    });
  }

  async test(path: string, lock: SourceLock, { signal }: Options): Promise<FoundSourceLock | undefined> {
    const found = await this.#next(path, signal, (session) =>
      session.call(ShareService.testLock, requestOf(path, lock), { signal: NEVER }),
    );
    if (found.kind === LockKind.UNSPECIFIED) return undefined;
    if (found.start + found.length > Number.MAX_SAFE_INTEGER) throw malformed();
    const kind = found.kind === LockKind.SHARED ? 'shared' : 'exclusive';
    return { kind, start: found.start, length: found.length };
  }

  /** @throws ENOLCK if the peer, perhaps an older one since the last session, takes no locks */
  #next<Reply>(path: string, signal: AbortSignal, work: (session: GuestSession) => Promise<Reply>): Promise<Reply> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const next = before.then(() =>
      this.#inSession(NEVER, (session) => {
        if (this.#number === undefined) throw callFailure('ENOLCK');
        return work(session);
      }),
    );
    const settled = next.catch(() => {});
    this.#last.set(path, settled);
    void settled.then(() => {
      if (this.#last.get(path) === settled) this.#last.delete(path);
    });
    return within(next, signal);
  }
}

function requestOf(path: string, { owner, whole, kind, start, length }: SourceLock): LockRequest {
  return { path: checkSharePath(path), owner, whole, kind: KINDS[kind], start, length };
}

function malformed(): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', messageFor('HANDSHAKE_MALFORMED', 'The share sent a lock that is none'));
}
