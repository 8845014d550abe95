// SPDX-License-Identifier: MPL-2.0
import {
  CONFIRM_BYTES,
  CONTROL_PREAMBLE,
  MAX_LANE_NUMBERS,
  RELAY_TOKEN_BYTES,
  type Suite,
  suiteLabel,
} from '@keibidrop/protocol';
import { expand, extract, hmacSha512, sha512 } from '../keys/hkdf.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';
import { GUEST_SECRET_BYTES, ReturnSecret } from '../meeting/return-secret.ts';

/** Handshake roles: the initiator dialled. */
export type Role = 'initiator' | 'responder';

/**
 * The keys that a handshake yields (PROTOCOL 3). All secret except `suite` and `sessionId`; `wipe()` them after handing
 * them over.
 */
export interface Keys {
  readonly suite: Suite;
  /** The control keys: we write with the first, the peer writes with the second. */
  readonly writeKey: Uint8Array;
  readonly readKey: Uint8Array;
  /** Native derives each lane's keys from it. */
  readonly laneSecret: Uint8Array;
  /** 16 bytes, public: a lane names its session with them. */
  readonly sessionId: Uint8Array;
  /** Used to resume this session after a loss. `wipe()` wipes it too, so keep a copy. */
  readonly returning: ReturnSecret;
  /** Lets a guest of a share meet it again later (PROTOCOL 3.2). Other sessions do not keep it. */
  readonly guestSecret: Uint8Array;
  wipe(): void;
}

/**
 * The hash over all bytes that both sides sent before the first confirm.
 *
 * @param hello1, hello2  M1 and M2 as sent, length fields included; the confirm at the end of M2 is left out
 */
export function transcriptOf(sodium: Sodium, hello1: Uint8Array, hello2: Uint8Array): Uint8Array {
  const unconfirmed = hello2.subarray(0, hello2.length - CONFIRM_BYTES);
  return sha512(sodium, utf8('KeibiDrop handshake v1'), CONTROL_PREAMBLE, hello1, unconfirmed);
}

/** The root of all keys, salted with the transcript. */
export function rootKey(
  sodium: Sodium,
  transcript: Uint8Array,
  secrets: { x25519: Uint8Array; kem: Uint8Array; auth: Uint8Array },
): Uint8Array {
  return extract(sodium, transcript, secrets.x25519, secrets.kem, secrets.auth);
}

/** The confirm in M2. */
export function responderConfirm(sodium: Sodium, root: Uint8Array, transcript: Uint8Array): Uint8Array {
  return confirmOf(sodium, root, 'responder', transcript);
}

/** The confirm in M3, which covers the one in M2. */
export function initiatorConfirm(
  sodium: Sodium,
  root: Uint8Array,
  transcript: Uint8Array,
  confirm2: Uint8Array,
): Uint8Array {
  return confirmOf(sodium, root, 'initiator', sha512(sodium, transcript, confirm2));
}

/** All keys of a session, for one of its sides. */
export function sessionKeys(sodium: Sodium, root: Uint8Array, suite: Suite, self: Role): Keys {
  const peer = self === 'initiator' ? 'responder' : 'initiator';
  const writeKey = controlKey(sodium, root, suite, self);
  const readKey = controlKey(sodium, root, suite, peer);
  const laneSecret = expand(sodium, root, 'KeibiDrop lanes', 32);
  const sessionId = expand(sodium, root, 'KeibiDrop session', 16);
  const returning = ReturnSecret.of(sodium, root);
  const guestSecret = expand(sodium, root, 'KeibiDrop guest', GUEST_SECRET_BYTES);
  const wipeAll = () => {
    wipe(writeKey, readKey, laneSecret, guestSecret);
    returning.wipe();
  };
  return { suite, writeKey, readKey, laneSecret, sessionId, returning, guestSecret, wipe: wipeAll };
}

/** The key under which `writer` writes on the control connection. */
export function controlKey(sodium: Sodium, root: Uint8Array, suite: Suite, writer: Role): Uint8Array {
  return expand(sodium, root, `${suiteLabel(suite)} control ${writer}`, 32);
}

/**
 * The key under which `writer` writes on a lane. Native derives the keys in use; this is the reference for its test
 * vectors.
 */
export function laneKey(sodium: Sodium, laneSecret: Uint8Array, suite: Suite, writer: Role, lane: number): Uint8Array {
  return expand(sodium, laneSecret, `${suiteLabel(suite)} lane ${writer}`, 32, laneNumber(lane));
}

/**
 * The tokens with which a relay joins the lanes of a session, one per lane number (PROTOCOL 2.3). The relay sees them.
 */
export async function relayLaneTokens(laneSecret: Uint8Array): Promise<Uint8Array[]> {
  // The caller may wipe its copy while libsodium loads.
  const secret = laneSecret.slice();
  const sodium = await loadSodium();
  const tokens = Array.from({ length: MAX_LANE_NUMBERS }, (_, lane) =>
    expand(sodium, secret, 'KeibiDrop relay lane', RELAY_TOKEN_BYTES, laneNumber(lane)),
  );
  wipe(secret);
  return tokens;
}

function laneNumber(lane: number): Uint8Array {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, lane);
  return number;
}

function confirmOf(sodium: Sodium, root: Uint8Array, who: Role, covered: Uint8Array): Uint8Array {
  const key = expand(sodium, root, `KeibiDrop confirm ${who}`, 64);
  const confirm = hmacSha512(sodium, key, covered).subarray(0, CONFIRM_BYTES);
  wipe(key);
  return confirm;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
