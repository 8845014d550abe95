// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileVersion } from '@keibidrop/protocol';
import type { Request } from './link.ts';
import { type Range, Ranges } from './ranges.ts';

/**
 * The written bytes of a file, cached until they are put. A byte is the overlay's, or the base's, or zero beyond `keep`.
 * One caller at a time.
 */
export class OverlayFile {
  /** The version it was created on. */
  base: FileVersion;
  size: number;
  mtimeNs: bigint;
  /** Bytes of the base that are still valid. */
  keep: number;
  /** There are changes to put. */
  changed = false;
  /** All put bytes are synced to the disk there. */
  synced = true;
  readonly #token = randomBytes(16).toString('hex');
  readonly #directory: string;
  /** Ranges in the file, written or fetched. */
  readonly #known = new Ranges();
  readonly #unsent = new Ranges();
  #file: FileHandle | undefined;

  constructor(directory: string, base: FileVersion) {
    this.#directory = directory;
    this.base = base;
    this.size = this.keep = base.size;
    this.mtimeNs = base.mtimeNs;
  }

  get unsentBytes(): number {
    return this.#unsent.bytes;
  }

  get unsentParts(): number {
    return this.#unsent.count;
  }

  async write(bytes: Uint8Array, offset: number, { fetched = false } = {}): Promise<void> {
    const file = await this.#opened();
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    const end = offset + bytes.length;
    this.#known.add(offset, end);
    if (fetched) return;
    this.#unsent.add(offset, end);
    this.size = Math.max(this.size, end);
    this.#touch();
  }

  async truncate(size: number): Promise<void> {
    this.#known.cut(size);
    this.#unsent.cut(size);
    await (await this.#opened()).truncate(Math.max(size, 0));
    this.size = size;
    this.keep = Math.min(this.keep, size);
    this.#touch();
  }

  /** Fills `buffer` with the known bytes, zeros elsewhere. @returns  the ranges that the base must fill */
  async read(buffer: Uint8Array, offset: number): Promise<Range[]> {
    const file = await this.#opened();
    let done = 0;
    while (done < buffer.length) {
      const { bytesRead } = await file.read(buffer, done, buffer.length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    buffer.fill(0, done);
    return this.#known.holes(offset, Math.min(offset + buffer.length, this.keep));
  }

  /** The message that uploads it. */
  async put(path: string, sync: boolean): Promise<Request> {
    await this.#opened();
    const { size, mtimeNs, base, keep } = this;
    const ranges = this.#unsent.list().map(({ start, end }) => ({ offset: start, length: end - start }));
    const version = { size, mtimeNs, baseSize: base.size, baseMtimeNs: base.mtimeNs };
    return { type: 'put', token: this.#token, ...version, keep, sync, ranges, path };
  }

  /** Gives the file of the cache away, as complete as the known bytes make it. */
  async leave(): Promise<{ token: string; mtimeNs: bigint; complete: boolean }> {
    const file = await this.#opened();
    await file.truncate(this.size);
    await file.close();
    this.#file = undefined;
    const complete = this.#known.holes(0, Math.min(this.size, this.keep)).length === 0;
    return { token: this.#token, mtimeNs: this.mtimeNs, complete };
  }

  /** A put has succeeded. */
  done({ size, mtimeNs }: FileVersion, sync: boolean): void {
    this.#unsent.clear();
    this.base = { size, mtimeNs };
    this.keep = size;
    this.size = size;
    this.mtimeNs = mtimeNs;
    this.changed = false;
    this.synced = sync;
  }

  /** Moves the overlay to another file, of which `base` is the version: all known bytes are to be put there. */
  moveTo(base: FileVersion, { beside }: { beside: boolean }): void {
    this.keep = beside ? Math.min(this.keep, base.size) : 0;
    this.base = base;
    for (const { start, end } of this.#known.list()) this.#unsent.add(start, end);
    this.changed = true;
  }

  async discard(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    await unlink(this.#path).catch(() => {});
  }

  get #path(): string {
    return join(this.#directory, `${this.#token}.data`);
  }

  async #opened(): Promise<FileHandle> {
    this.#file ??= await open(this.#path, 'w+', 0o600);
    return this.#file;
  }

  #touch(): void {
    this.mtimeNs = BigInt(Date.now()) * 1_000_000n;
    this.changed = true;
  }
}
