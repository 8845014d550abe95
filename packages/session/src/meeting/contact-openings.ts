// SPDX-License-Identifier: MPL-2.0
import { FrameOpener, FrameSealer } from '@keibidrop/native';
import {
  CONTACT_NONCE_BYTES,
  decodeContactOpening,
  encodeContactOpening,
  KeibiError,
  type MessagePipe,
  type OpeningKind,
} from '@keibidrop/protocol';
import type { PairKey } from '../keys/pair-key.ts';
import { loadSodium, wipe } from '../keys/sodium.ts';

const SUITE = 'chacha20-poly1305';

/** The pipe and our side in one meeting. */
export interface Openings {
  readonly pipe: MessagePipe;
  readonly side: 'guest' | 'owner';
  readonly signal: AbortSignal;
  /** The guest's first body, if it has already been received. */
  first: Uint8Array | undefined;
}

/**
 * Exchanges one opening per side, the guest's first, sealed with the pair key (PROTOCOL 10.2).
 *
 * @param kinds  of the guest's opening and of the owner's
 * @param make  builds our opening; the owner calls it only after the guest's opening is verified
 * @returns  `nonces`: the guest's and the owner's
 * @throws HANDSHAKE_MALFORMED; HANDSHAKE_TAMPERED when the contact did not seal the opening; the errors of the pipe
 */
export async function exchangeOpenings(
  openings: Openings,
  pair: PairKey,
  kinds: readonly [OpeningKind, OpeningKind],
  make: () => Uint8Array,
): Promise<{ own: Uint8Array; theirs: Uint8Array; nonces: readonly Uint8Array[] }> {
  const nonces: Uint8Array[] = [];
  const asGuest = openings.side === 'guest';
  let theirs = asGuest ? undefined : await receive(openings, pair, kinds[0], nonces);
  const own = make();
  await send(openings, pair, { kind: kinds[asGuest ? 0 : 1], plaintext: own }, nonces);
  theirs ??= await receive(openings, pair, kinds[1], nonces);
  return { own, theirs, nonces };
}

async function send(
  { pipe, side }: Openings,
  pair: PairKey,
  { kind, plaintext }: { kind: OpeningKind; plaintext: Uint8Array },
  nonces: Uint8Array[],
): Promise<void> {
  const nonce = (await loadSodium()).randombytes_buf(CONTACT_NONCE_BYTES);
  nonces.push(nonce);
  const key = keyOf(side, pair, kind, nonces);
  const sealer = new FrameSealer({ suite: SUITE, key });
  wipe(key);
  const frame = sealer.seal(plaintext);
  sealer.close();
  await pipe.send(encodeContactOpening({ kind, nonce, frame }));
}

async function receive(
  openings: Openings,
  pair: PairKey,
  kind: OpeningKind,
  nonces: Uint8Array[],
): Promise<Uint8Array> {
  const body = openings.first ?? (await openings.pipe.receive({ signal: openings.signal }));
  openings.first = undefined;
  const { nonce, frame } = decodeContactOpening(body, kind);
  nonces.push(nonce);
  const key = keyOf(openings.side, pair, kind, nonces);
  const opener = new FrameOpener({ suite: SUITE, key });
  wipe(key);
  try {
    return opener.open(frame.slice());
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_TAMPERED', undefined, { cause });
  } finally {
    opener.close();
  }
}

function keyOf(side: Openings['side'], pair: PairKey, kind: OpeningKind, nonces: readonly Uint8Array[]): Uint8Array {
  return pair.openingKey(kind === 'keys' ? 'keys' : 'ciphertext', side === 'owner' ? 'self' : 'peer', nonces);
}
