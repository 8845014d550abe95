// SPDX-License-Identifier: MPL-2.0
import { createHmac, randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNewer, KeibiError } from '@keibidrop/protocol';
import { isNewerRecord, openRecord, sealRecord } from '@keibidrop/session';
import type { SealedPlace } from '@keibidrop/settings';
import { type FileUse, readPrivate, writePrivate } from '@keibidrop/settings/files';

const KEY_BYTES = 32;
const NAME_BYTES = 16;
const KEY: FileUse = { maxBytes: KEY_BYTES + 1, unusable: 'CONFIG_INVALID' };

/**
 * Small private files of this user, sealed by a key that is stored elsewhere: a copy of only one of the two is useless.
 *
 * It uses no keychain: mounts must come back before a person unlocks one.
 */
export class SealedFolder {
  readonly #place: SealedPlace;
  readonly #use: FileUse;
  #key: Promise<Uint8Array> | undefined;

  /** @param maxBytes  the size limit of a file that is read */
  constructor(place: SealedPlace, maxBytes: number) {
    this.#place = place;
    this.#use = { maxBytes, unusable: 'CONFIG_INVALID' };
  }

  /** The name of the file for `text`, which reveals nothing without the key. @throws CONFIG_INVALID, DISK_FULL */
  async nameOf(text: string): Promise<string> {
    const hash = createHmac('sha256', await this.#ownKey()).update(`KeibiDrop known\0${text}`);
    return hash.digest().subarray(0, NAME_BYTES).toString('hex');
  }

  /**
   * The content of a file; undefined if it is missing or does not open.
   * @throws FILE_NEWER; CONFIG_INVALID if other users can read it
   */
  async read(name: string): Promise<Uint8Array | undefined> {
    const path = join(this.#place.folder, name);
    const file = await readPrivate(path, this.#use);
    if (file && isNewerRecord(file)) throw fileNewer(path);
    return file && openRecord(file, await this.#ownKey(), name);
  }

  /** Resolves when it is on the disk. @throws DISK_FULL, CONFIG_INVALID */
  async write(name: string, record: Uint8Array): Promise<void> {
    const sealed = await sealRecord(record, await this.#ownKey(), name);
    await writePrivate(join(this.#place.folder, name), sealed, { replace: true }, 'CONFIG_INVALID');
  }

  /** Sets the file's time to now. */
  async refresh(name: string): Promise<void> {
    const now = new Date();
    await utimes(join(this.#place.folder, name), now, now).catch(() => {});
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#place.folder, name), { force: true });
  }

  /** Removes files unused for `unusedMs`, and the oldest beyond `most`. @returns  how many */
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

  /** The key, created when first needed. A damaged key opens no file, so it is replaced. */
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
