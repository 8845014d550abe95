// SPDX-License-Identifier: MPL-2.0

/** Stores small secrets for one user of the machine, sealed while that user is away. */
export interface Keychain {
  /** The secret under a name; undefined if there is none. @throws if there is no keychain, or it stays locked */
  read(name: string): Promise<Uint8Array | undefined>;
  /** @throws as `read` */
  write(name: string, secret: Uint8Array): Promise<void>;
  /** @throws as `read` */
  remove(name: string): Promise<void>;
}

const SERVICE = 'KeibiDrop';
/** Long enough for a person to unlock it. */
const PATIENCE_MS = 60_000;

/** The keychain of the operating system. Its library is loaded at first use and is optional. */
export function systemKeychain(): Keychain {
  return {
    read: async (name) => {
      const secret = await (await entryOf(name)).getSecret(AbortSignal.timeout(PATIENCE_MS));
      return secret ? Uint8Array.from(secret) : undefined;
    },
    write: async (name, secret) => (await entryOf(name)).setSecret(secret, AbortSignal.timeout(PATIENCE_MS)),
    remove: async (name) => void (await (await entryOf(name)).deleteCredential(AbortSignal.timeout(PATIENCE_MS))),
  };
}

async function entryOf(name: string) {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  // Not the kernel's keyring, which a restart empties.
  return new AsyncEntry(SERVICE, name, { linux: { store: 'secret-service' } });
}
