// SPDX-License-Identifier: MPL-2.0
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FoundLock, LockTable, WantedLock } from '@keibidrop/native';
import { callFailure } from '@keibidrop/protocol';
import type { ShareFolder } from './share-folder.ts';

/** How long a guest's locks outlast its session. */
const AWAY_MS = 30_000;
/**
 * How long to retry. A local program that locks again and again leaves short gaps, which a remote guest would rarely
 * hit.
 */
const PATIENCE_MS = 50;
const AGAIN_MS = 1;

/**
 * The locks of one guest of a share, over its sessions (PROTOCOL 11.3). Its calls run one after another, in order of
 * arrival.
 */
export class GuestLocks {
  /** Names this set of locks to the guest. */
  readonly number = randomInt(1, 2 ** 48 - 1);
  readonly table: LockTable;
  #last: Promise<unknown> = Promise.resolve();
  #sessions = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: ShareFolder) {
    this.table = folder.lockTable();
  }

  /** @throws SHARE_CALL_FAILED: EAGAIN while another has a conflicting lock */
  async lock(path: string, wanted: WantedLock): Promise<{ holder: number; entry: Uint8Array }> {
    const session = this.#sessions;
    for (const began = performance.now(); ; await sleep(AGAIN_MS)) {
      const { holder, entry } = await this.#next(() => this.table.lock(path, wanted));
      if (entry !== undefined) return { holder, entry };
      // Fail at once if the owner holds other locks: waiting might deadlock. After a new session the guest asks again
      // itself.
      const isOver = performance.now() - began > PATIENCE_MS || session !== this.#sessions;
      if (holder !== 0 || isOver) throw callFailure('EAGAIN');
    }
  }

  unlock(holder: number, span: { start: number; end?: number | undefined }): Promise<boolean> {
    return this.#next(() => this.table.unlock(holder, span));
  }

  test(path: string, wanted: WantedLock): Promise<FoundLock | undefined> {
    return this.#next(() => this.table.test(path, wanted));
  }

  /** The guest has a session again. */
  back(): void {
    this.#sessions++;
    clearTimeout(this.#timer);
  }

  /** The guest's session was lost. @param onGone  called if it does not return in time: its locks are released */
  leave(onGone: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(onGone, AWAY_MS).unref();
  }

  /** Releases every lock. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    return this.table.close();
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }
}
