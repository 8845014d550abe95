// SPDX-License-Identifier: MPL-2.0
import { createHmac, randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { openRecord, sealRecord } from '@keibidrop/session';
import { type FileUse, readPrivate, writePrivate } from '../private-file.ts';

/** A folder of sealed files, and the file of the key that opens them. Both are made when they are needed. */
export interface SealedPlace {
  readonly folder: string;
  readonly keyFile: string;
}

const KEY_BYTES = 32;
const NAME_BYTES = 16;
const KEY: FileUse = { maxBytes: KEY_BYTES + 1, unusable: 'CONFIG_INVALID' };

/**
 * Small files of this user alone, sealed by a key that lies elsewhere: who copies one of the two learns nothing.
 *
 * It asks no keychain: mounts come back before a person unlocks one.
 */
export class SealedFolder {
  readonly #place: SealedPlace;
  readonly #use: FileUse;
  #key: Promise<Uint8Array> | undefined;

  /** @param maxBytes  the longest file that is read */
  constructor(place: SealedPlace, maxBytes: number) {
    this.#place = place;
    this.#use = { maxBytes, unusable: 'CONFIG_INVALID' };
  }

  /** The name of the file about `text`, which says nothing of it without the key. @throws CONFIG_INVALID, DISK_FULL */
  async nameOf(text: string): Promise<string> {
    const hash = createHmac('sha256', await this.#ownKey()).update(`KeibiDrop known\0${text}`);
    return hash.digest().subarray(0, NAME_BYTES).toString('hex');
  }

  /** What a file holds; undefined if there is none, or it does not open. @throws CONFIG_INVALID if others can read it */
  async read(name: string): Promise<Uint8Array | undefined> {
    const file = await readPrivate(join(this.#place.folder, name), this.#use);
    return file && openRecord(file, await this.#ownKey(), name);
  }

  /** On the disk when it resolves. @throws DISK_FULL, CONFIG_INVALID */
  async write(name: string, record: Uint8Array): Promise<void> {
    const sealed = await sealRecord(record, await this.#ownKey(), name);
    await writePrivate(join(this.#place.folder, name), sealed, { replace: true }, 'CONFIG_INVALID');
  }

  /** As if it were written now. */
  async refresh(name: string): Promise<void> {
    const now = new Date();
    await utimes(join(this.#place.folder, name), now, now).catch(() => {});
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#place.folder, name), { force: true });
  }

  /** Removes files that were not written for so long, and the oldest of more than `most`. @returns  how many */
  async trim({ most, unusedMs }: { most: number; unusedMs: number }): Promise<number> {
    const found: { name: string; writtenMs: number }[] = [];
    for (const name of await readdir(this.#place.folder).catch(() => [])) {
      const { mtimeMs } = (await stat(join(this.#place.folder, name)).catch(() => undefined)) ?? {};
      if (mtimeMs !== undefined) found.push({ name, writtenMs: mtimeMs });
    }
    found.sort((one, other) => other.writtenMs - one.writtenMs);
    const old = found.filter(({ writtenMs }, i) => i >= most || Date.now() - writtenMs > unusedMs);
    for (const { name } of old) await this.remove(name);
    return old.length;
  }

  #ownKey(): Promise<Uint8Array> {
    this.#key ??= this.#readKey().catch((reason) => {
      this.#key = undefined;
      throw reason;
    });
    return this.#key;
  }

  /** The first to need it makes it. A damaged one opens nothing any more, so it goes. */
  async #readKey(): Promise<Uint8Array> {
    const { keyFile } = this.#place;
    const found = await readPrivate(keyFile, KEY);
    if (found?.length === KEY_BYTES) return found;
    await writePrivate(keyFile, randomBytes(KEY_BYTES), { replace: found !== undefined }, 'CONFIG_INVALID');
    const made = await readPrivate(keyFile, KEY);
    if (made?.length !== KEY_BYTES) throw new KeibiError('CONFIG_INVALID', `${keyFile} was removed meanwhile.`);
    return made;
  }
}
