// SPDX-License-Identifier: MPL-2.0
import { encodeFromDaemon, encodeLockAnswer, encodeTestLockAnswer } from '@keibidrop/proto/mount-host';
import { callFailure, type ShareEntry } from '@keibidrop/protocol';
import { doneMessage, type LockRequest, pageMessage } from './host-messages.ts';
import { pageOf } from './host-writes.ts';
import type { FoundSourceLock, SourceLocks } from './mount-source.ts';

/** Never aborted: the source must hear of each lock that its program no longer has. */
const NEVER = new AbortController().signal;
const ALL = { start: 0, length: 0 };
/** The end of any file, for the host. */
const TO_THE_END = 2n ** 63n - 1n;

/** Takes the locks of a mount host's programs at the source, and gives up the remaining ones when the host ends. */
export class HostLocks {
  readonly #locks: SourceLocks | undefined;
  readonly #send: (message: Buffer) => void;
  readonly #holders = new Set<number>();
  readonly #forget: (() => void) | undefined;

  constructor(locks: SourceLocks | undefined, send: (message: Buffer) => void) {
    this.#locks = locks;
    this.#send = send;
    this.#forget = locks?.onLost(() => {
      this.#holders.clear();
      send(encodeFromDaemon({ type: 'locksLost' }));
    });
  }

  /** @returns  the end of the answer. Throws as SourceLocks does. */
  async answer(message: LockRequest, signal: AbortSignal): Promise<Buffer> {
    const { request } = message;
    const locks = this.#locks;
    if (locks === undefined) throw callFailure('ENOLCK');
    if (message.type === 'unlock') {
      const { holder } = message;
      if (!(await locks.unlock(holder, rangeOf(message), { signal }))) this.#holders.delete(holder);
      return doneMessage(request);
    }
    const { path, owner, whole, kind } = message;
    const lock = { owner, whole, kind, ...rangeOf(message) };
    if (message.type === 'testLock') return doneMessage(request, foundLock(await locks.test(path, lock, { signal })));
    const { holder, entry } = await this.#acquired(locks.lock(path, lock, { signal: NEVER }), signal);
    this.#holders.add(holder);
    this.#send(pageMessage(request, pageOf(entry)));
    return doneMessage(request, encodeLockAnswer({ holder }));
  }

  /** The host has ended, with all programs that had locks. */
  close(): void {
    this.#forget?.();
    for (const holder of this.#holders) void this.#giveUp(holder);
    this.#holders.clear();
  }

  /**
   * A lock may arrive too late for its program: release it. The program itself releases its other locks of the file.
   */
  async #acquired(locking: Promise<{ holder: number; entry: ShareEntry }>, signal: AbortSignal) {
    let onAbort = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
    try {
      return await Promise.race([locking, aborted]);
    } catch (reason) {
      locking.then(
        ({ holder }) => {
          if (!this.#holders.has(holder)) void this.#giveUp(holder);
        },
        () => {},
      );
      throw reason;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #giveUp(holder: number): Promise<void> {
    await this.#locks?.unlock(holder, ALL, { signal: NEVER }).catch(() => {});
  }
}

/** No file is longer than a safe integer. */
function rangeOf({ from, end }: { from: bigint; end: bigint }): { start: number; length: number } {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  if (from >= most) return { start: Number.MAX_SAFE_INTEGER - 1, length: 0 };
  return { start: Number(from), length: end > most ? 0 : Number(end - from) };
}

function foundLock(found: FoundSourceLock | undefined): Buffer {
  const { kind = 'none', start, length } = found ?? { start: 0, length: 0 };
  const end = length === 0 ? TO_THE_END : BigInt(start + length);
  return encodeTestLockAnswer({ kind, from: BigInt(start), end });
}
