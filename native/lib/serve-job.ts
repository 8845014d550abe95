// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertInteger, assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';
import type { FolderWrites, NativeFolderWrites } from './folder-writes.ts';
import { suiteBitOf } from './frame.ts';
import type { Listener, NativeListener } from './listener.ts';
import type { LockTable, NativeLockTable } from './lock-table.ts';
import { checkedBase, checkedFinish, type NativeBase, type NativeFinish, type PutBase, type PutFinish } from './put.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';
import type { LaneKeys } from './send-job.ts';

interface NativeServeJob {
  expectLanes(listener: NativeListener, sessionId: Uint8Array, laneSecret: Uint8Array, suiteBit: number): void;
  rekey(number: number, secret: Uint8Array): void;
  openWrite(path: string, ...base: NativeBase): Promise<number>;
  commit(handle: number, ...finish: NativeFinish): Promise<Uint8Array>;
  closeWrite(handle: number): Promise<void>;
  bytes(): number;
  close(): Promise<void>;
}

interface ServeJobBinding {
  ServeJob: new (
    folder: string,
    only: string,
    budget: NativeRateBudget | undefined,
    writes: NativeFolderWrites | undefined,
    locks: NativeLockTable | undefined,
  ) => NativeServeJob;
}

/**
 * One guest's reads and writes of a shared folder in one session (PROTOCOL 11.1, 11.2). Native threads carry bytes
 * between disk and lanes; none of them come here.
 */
export class ServeJob {
  readonly #native: NativeServeJob;

  /**
   * @param options.folder  absolute; opened for each file
   * @param options.only    the one file in it that may be read; absent: all
   * @param options.budget  the rate limit shared with other jobs; absent: no limit
   * @param options.writes  of the same folder; absent: read-only
   * @param options.locks   of the guest, whose own locks do not block its writes; absent: it has none
   */
  constructor({
    folder,
    only = '',
    budget,
    writes,
    locks,
  }: {
    folder: string;
    only?: string | undefined;
    budget?: RateBudget;
    writes?: FolderWrites | undefined;
    locks?: LockTable | undefined;
  }) {
    assertText('folder', folder);
    assertText('only', only);
    const { ServeJob: Native } = loadBinding<ServeJobBinding>();
    this.#native = new Native(folder, only, RateBudget.nativeOf(budget), writes?.native, locks?.native);
  }

  /** Lets the listener accept the lanes of this session until close(). The secret is copied. */
  expectLanes(listener: Listener, { sessionId, laneSecret, suite }: LaneKeys): void {
    assertBytes('sessionId', sessionId, 16);
    assertBytes('laneSecret', laneSecret, 32);
    this.#native.expectLanes(listener.native, sessionId, laneSecret, suiteBitOf(suite));
  }

  /** Every lane's writer moves to this rekey before its next frame (PROTOCOL 4.3). The secret is copied. */
  rekey(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.rekey(number, secret);
  }

  /**
   * Opens a file for writes by lanes; resolves with its handle.
   *
   * @throws TRANSFER_SOURCE_CHANGED, TRANSFER_SOURCE_MISSING, TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED (too many
   * are open), SHARE_CALL_FAILED with `errnoName`: EROFS if read-only, EBUSY while another overlay writes it
   */
  async openWrite(path: string, base: PutBase): Promise<number> {
    assertText('path', path);
    return this.#native.openWrite(path, ...checkedBase(base));
  }

  /**
   * Sets the file's size and mtime and closes it; resolves with its entry. @throws SHARE_CALL_FAILED; CANCELLED after
   * close()
   */
  async commit(handle: number, finish: PutFinish): Promise<Uint8Array> {
    assertInteger('handle', handle, 0, 0xffffffff);
    return this.#native.commit(handle, ...checkedFinish(finish));
  }

  /** Ends all writes by this handle. Idempotent. */
  async closeWrite(handle: number): Promise<void> {
    assertInteger('handle', handle, 0, 0xffffffff);
    return this.#native.closeWrite(handle);
  }

  /** File bytes sent so far. */
  get bytes(): number {
    return this.#native.bytes();
  }

  /** Ends every thread. Idempotent. */
  close(): Promise<void> {
    return this.#native.close();
  }
}
