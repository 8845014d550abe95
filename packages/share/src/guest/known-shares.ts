// SPDX-License-Identifier: MPL-2.0
import type { Code } from '@keibidrop/protocol';
import { GUEST_SECRET_BYTES, RECORD_OVERHEAD_BYTES } from '@keibidrop/session';
import type { SealedPlace } from '@keibidrop/settings';
import { SealedFolder } from '../sealed-folder.ts';

// The guest's side of PROTOCOL 3.2.

/** Shares whose secret a guest keeps; beyond this the least recently used are forgotten. */
const MAX_KNOWN_SHARES = 1024;
/** How long an unused guest secret is kept, on both sides. */
export const GUEST_UNUSED_MS = 90 * 24 * 60 * 60_000;

/** How often secrets in use are refreshed, so that a long session does not count as unused. */
const REFRESH_MS = 24 * 60 * 60_000;

/** Stores the secret of one guest of one share. */
export interface ShareMemory {
  /** The newest secret, which the caller wipes; undefined if there is none. */
  secret(): Promise<Uint8Array | undefined>;
  /** Replaces the secret atomically. It stays the caller's. @throws DISK_FULL, CONFIG_INVALID */
  keep(secret: Uint8Array): Promise<void>;
  forget(): Promise<void>;
  /** The guest has ended. */
  close(): void;
}

/** Stores the secret for as long as the guest's process runs. */
export class ShareInMemory implements ShareMemory {
  #secret: Uint8Array | undefined;

  async secret(): Promise<Uint8Array | undefined> {
    return this.#secret?.slice();
  }

  async keep(secret: Uint8Array): Promise<void> {
    await this.forget();
    this.#secret = secret.slice();
  }

  async forget(): Promise<void> {
    this.#secret?.fill(0);
    this.#secret = undefined;
  }

  close(): void {
    void this.forget();
  }
}

/** The secrets of a user's guests, each in a sealed file. Deriving its name from a code needs the key. */
export class KnownShares {
  readonly #files: SealedFolder;

  constructor(place: SealedPlace) {
    this.#files = new SealedFolder(place, RECORD_OVERHEAD_BYTES + GUEST_SECRET_BYTES);
  }

  /** The name of the file for a code. @throws CONFIG_INVALID, DISK_FULL */
  nameOf({ text }: Code): Promise<string> {
    return this.#files.nameOf(text);
  }

  /** The caller closes it. */
  memoryOf(name: string): ShareMemory {
    const files = this.#files;
    const refresh = setInterval(() => void files.refresh(name), REFRESH_MS).unref();
    return {
      secret: async () => {
        const secret = await files.read(name);
        return secret?.length === GUEST_SECRET_BYTES ? secret : undefined;
      },
      keep: async (secret) => {
        await files.write(name, secret);
        await this.trim();
      },
      forget: () => files.remove(name),
      close: () => clearInterval(refresh),
    };
  }

  /** Forgets secrets that were unused for long. */
  async trim(): Promise<void> {
    await this.#files.trim({ most: MAX_KNOWN_SHARES, unusedMs: GUEST_UNUSED_MS });
  }
}
