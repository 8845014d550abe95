// SPDX-License-Identifier: MPL-2.0
import { callFailure } from '@keibidrop/protocol';
import { encodeDone, encodeFoundLock, encodeLocksLost, encodePage, type FromLocker } from './host-message.ts';
import { pageOf } from './host-writes.ts';
import type { SourceEntry, SourceLocks } from './mount-source.ts';

/** Never aborted: the source must hear of each lock that its program no longer has. */
const NEVER = new AbortController().signal;
const ALL = { start: 0, length: 0 };

/** Takes the locks of a mount host's programs at the source, and gives up what is left of them when the host ends. */
export class HostLocks {
  readonly #locks: SourceLocks | undefined;
  readonly #tell: (message: Buffer) => void;
  readonly #holders = new Set<number>();
  readonly #forget: (() => void) | undefined;

  constructor(locks: SourceLocks | undefined, tell: (message: Buffer) => void) {
    this.#locks = locks;
    this.#tell = tell;
    this.#forget = locks?.onLost(() => {
      this.#holders.clear();
      tell(encodeLocksLost());
    });
  }

  /** @returns  the end of the answer. Throws as SourceLocks does. */
  async answer(message: FromLocker, signal: AbortSignal): Promise<Buffer> {
    const { request } = message;
    const locks = this.#locks;
    if (locks === undefined) throw callFailure('ENOLCK');
    if (message.type === 'unlock') {
      const { holder, start, length } = message;
      if (!(await locks.unlock(holder, { start, length }, { signal }))) this.#holders.delete(holder);
      return encodeDone(request, 0);
    }
    const { path, owner, whole, kind, start, length } = message;
    const lock = { owner, whole, kind, start, length };
    if (message.type === 'testLock') return encodeFoundLock(request, await locks.test(path, lock, { signal }));
    const { holder, entry } = await this.#heard(locks.lock(path, lock, { signal: NEVER }), signal);
    this.#holders.add(holder);
    this.#tell(encodePage(request, pageOf(entry)));
    return encodeDone(request, 0, holder);
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
  async #heard(locking: Promise<{ holder: number; entry: SourceEntry }>, signal: AbortSignal) {
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
