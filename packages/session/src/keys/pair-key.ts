// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { expand, extract } from './hkdf.ts';
import { fingerprintOf, type IdentityKeys, type PublicKeys } from './identity-keys.ts';
import { loadSodium, type Sodium, wipe } from './sodium.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/**
 * The key that two contacts share before they meet (PROTOCOL 10.1). It names their mailboxes and seals their first
 * messages, so that others cannot recognize them. It proves no identity; the meeting does. `wipe()` it when done.
 */
export class PairKey {
  /** Our own fingerprint. */
  readonly self: Uint8Array;
  /** The contact; `keys` is undefined at first contact. */
  readonly peer: { readonly fingerprint: Uint8Array; readonly keys: PublicKeys | undefined };
  readonly #sodium: Sodium;
  readonly #key: Uint8Array;

  private constructor(sodium: Sodium, key: Uint8Array, self: Uint8Array, peer: PairKey['peer']) {
    this.#sodium = sodium;
    this.#key = key;
    this.self = self;
    this.peer = peer;
  }

  /**
   * The key of two contacts that know each other's keys; no third party can derive it.
   * @throws HANDSHAKE_MALFORMED for an invalid X25519 key
   */
  static async of(self: IdentityKeys, keys: PublicKeys): Promise<PairKey> {
    const sodium = await loadSodium();
    const fingerprint = fingerprintOf(sodium, keys);
    const shared = sharedSecret(sodium, self.x25519.secret, keys.x25519);
    try {
      return keyed(sodium, sorted(self.fingerprint, fingerprint), shared, (key) => {
        return new PairKey(sodium, key, self.fingerprint, { fingerprint, keys });
      });
    } finally {
      wipe(shared);
    }
  }

  /**
   * The key of two contacts that know only each other's fingerprint. Anyone who knows both fingerprints can derive it.
   */
  static async ofFingerprints(self: Uint8Array, peer: Uint8Array): Promise<PairKey> {
    const sodium = await loadSodium();
    const salt = new TextEncoder().encode('KeibiDrop first contact');
    return keyed(sodium, salt, sorted(self, peer), (key) => {
      return new PairKey(sodium, key, self, { fingerprint: peer, keys: undefined });
    });
  }

  /**
   * Names the mailbox that one of the two keeps for the other on a day, counted from 1970 in UTC: 64 lower-case
   * hexadecimal digits.
   */
  mailbox(owner: 'self' | 'peer', day: number): string {
    const number = new Uint8Array(4);
    new DataView(number.buffer).setUint32(0, day);
    const name = this.#expand('KeibiDrop contact mailbox', owner, number);
    return Array.from(name, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /**
   * Derives the key that seals one opening of a meeting in the owner's mailbox. The caller wipes it.
   *
   * @param nonces  of the openings up to this one, which is the first or the second of its kind
   */
  openingKey(step: 'keys' | 'ciphertext', owner: 'self' | 'peer', nonces: readonly Uint8Array[]): Uint8Array {
    const writer = nonces.length === 1 ? 'guest' : 'owner';
    return this.#expand(`KeibiDrop contact ${step} ${writer}`, owner, ...nonces);
  }

  /** Derives the root of a conversation's keys from this key and the secrets of the meeting. The caller wipes it. */
  root(transcript: Uint8Array, ...secrets: readonly Uint8Array[]): Uint8Array {
    return extract(this.#sodium, transcript, this.#key, ...secrets);
  }

  wipe(): void {
    wipe(this.#key);
  }

  #expand(label: string, owner: 'self' | 'peer', ...context: readonly Uint8Array[]): Uint8Array {
    const fingerprint = owner === 'self' ? this.self : this.peer.fingerprint;
    return expand(this.#sodium, this.#key, label, 32, joined(fingerprint, ...context));
  }
}

/**
 * The days whose mailboxes are in use: today first, plus a neighbouring day in the first and last hour of a day (UTC),
 * so that clocks may differ by an hour. An owner keeps all of them; a guest tries them in this order.
 *
 * @param nowMs  milliseconds since 1970
 */
export function mailboxDays(nowMs: number): number[] {
  const today = Math.floor(nowMs / DAY_MS);
  const into = nowMs - today * DAY_MS;
  if (into < HOUR_MS) return [today, today - 1];
  return into >= DAY_MS - HOUR_MS ? [today, today + 1] : [today];
}

function keyed(sodium: Sodium, salt: Uint8Array, secret: Uint8Array, make: (key: Uint8Array) => PairKey): PairKey {
  const prk = extract(sodium, salt, secret);
  const key = expand(sodium, prk, 'KeibiDrop contact pair', 32);
  wipe(prk);
  return make(key);
}

function sharedSecret(sodium: Sodium, secret: Uint8Array, key: Uint8Array): Uint8Array {
  try {
    return sodium.crypto_scalarmult(secret, key);
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_MALFORMED', 'The contact has an invalid key.', { cause });
  }
}

/** Both fingerprints, the lower first, so that both sides use one order. */
function sorted(one: Uint8Array, other: Uint8Array): Uint8Array {
  const differing = one.findIndex((byte, i) => byte !== other[i]);
  const inOrder = differing < 0 || (one[differing] as number) < (other[differing] as number);
  return inOrder ? joined(one, other) : joined(other, one);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
