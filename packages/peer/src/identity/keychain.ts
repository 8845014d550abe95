// SPDX-License-Identifier: MPL-2.0

/** Keeps small secrets for one user of the machine, sealed while that user is away. */
export interface Keychain {
  /** What is kept under a name; undefined if nothing is. @throws if there is no keychain, or it stays locked */
  read(name: string): Promise<Uint8Array | undefined>;
  /** @throws as `read` */
  write(name: string, secret: Uint8Array): Promise<void>;
  /** @throws as `read` */
  remove(name: string): Promise<void>;
}

const SERVICE = 'KeibiDrop';
/** A person may have to unlock it first. */
const PATIENCE_MS = 60_000;

/** The one of the operating system, through a library that is loaded at first use and need not be installed. */
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
