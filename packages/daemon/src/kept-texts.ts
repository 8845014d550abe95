// SPDX-License-Identifier: MPL-2.0
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_TEXT_BYTES } from '@keibidrop/protocol';
import { readPrivate, writePrivate } from '@keibidrop/settings/files';

/** Received texts that no client has shown yet, one file each, so that they survive the daemon. */
export class KeptTexts {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws DISK_FULL, CONFIG_INVALID */
  async put(id: number, text: string): Promise<void> {
    await writePrivate(this.#file(id), Buffer.from(text), { replace: true }, 'CONFIG_INVALID');
  }

  /** Undefined if there is none. @throws CONFIG_INVALID if it cannot be read */
  async get(id: number): Promise<string | undefined> {
    const bytes = await readPrivate(this.#file(id), { maxBytes: MAX_TEXT_BYTES, unusable: 'CONFIG_INVALID' });
    return bytes && Buffer.from(bytes).toString();
  }

  async remove(id: number): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  #file(id: number): string {
    return join(this.#directory, `${id}.txt`);
  }
}
