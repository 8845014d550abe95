// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '../errors.ts';
import { MAX_MAILBOX_BODY_BYTES } from '../limits.ts';
import { otherVersion, PROTOCOL_VERSION } from '../peer-version.ts';
import { ATTEMPT_BYTES } from './handshake-message.ts';

export const SID_BYTES = 16;
export const SHARE_BYTES = 32;
export const TAG_BYTES = 32;
export const RETURN_NONCE_BYTES = 16;

/** The reason of a REFUSED that names the owner's version instead of judging the guest. */
const OTHER_VERSION = 6;

/** Why an owner refuses a guest. */
export type Refusal = 'wrong-code' | 'code-exhausted' | 'busy' | 'unknown-session' | 'locked';
const REFUSALS: readonly (Refusal | undefined)[] = [
  undefined,
  'wrong-code',
  'code-exhausted',
  'busy',
  'unknown-session',
  'locked',
];

/**
 * One body of the meeting of two peers in a mailbox, PROTOCOL 2.2.
 *
 *   HELLO:    | 1 | version 1 | sid 16 | Ya 32 |
 *   SHARE:    | 2 | version 1 | Yb 32 |
 *   CONFIRM:  | 3 | Ta 32 |      guest
 *   CONFIRM:  | 4 | Tb 32 |      owner
 *   REFUSED:  | 5 | reason 1 |
 *   REFUSED:  | 5 | 6 | version 1 |      the owner speaks only this version
 *   SEALED:   | 6 | frame |
 *   RETURN:   | 7 | version 1 | attempt 16 | nonce 16 |      guest whose session was lost
 *   RETURNED: | 8 | nonce 16 |                               owner
 */
export type MeetingMessage =
  | { readonly kind: 'hello'; readonly sid: Uint8Array; readonly ya: Uint8Array }
  | { readonly kind: 'share'; readonly yb: Uint8Array }
  | { readonly kind: 'guest-confirm'; readonly ta: Uint8Array }
  | { readonly kind: 'owner-confirm'; readonly tb: Uint8Array }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'other-version'; readonly version: number }
  | { readonly kind: 'sealed'; readonly frame: Uint8Array }
  | { readonly kind: 'return'; readonly attempt: Uint8Array; readonly nonce: Uint8Array }
  | { readonly kind: 'returned'; readonly nonce: Uint8Array };

export function encodeMeetingMessage(message: MeetingMessage): Uint8Array {
  switch (message.kind) {
    case 'hello':
      return Uint8Array.of(1, PROTOCOL_VERSION, ...message.sid, ...message.ya);
    case 'share':
      return Uint8Array.of(2, PROTOCOL_VERSION, ...message.yb);
    case 'guest-confirm':
      return Uint8Array.of(3, ...message.ta);
    case 'owner-confirm':
      return Uint8Array.of(4, ...message.tb);
    case 'refused':
      return Uint8Array.of(5, REFUSALS.indexOf(message.refusal));
    case 'other-version':
      return Uint8Array.of(5, OTHER_VERSION, message.version);
    case 'sealed':
      return Uint8Array.of(6, ...message.frame);
    case 'return':
      return Uint8Array.of(7, PROTOCOL_VERSION, ...message.attempt, ...message.nonce);
    case 'returned':
      return Uint8Array.of(8, ...message.nonce);
  }
}

/**
 * Decodes one body; its fields are views of `bytes`.
 *
 * @throws HANDSHAKE_MALFORMED; PEER_NEWER or PEER_OLDER for another version
 */
export function decodeMeetingMessage(bytes: Uint8Array): MeetingMessage {
  switch (bytes[0]) {
    case 1: {
      const rest = versioned(bytes, SID_BYTES + SHARE_BYTES);
      return { kind: 'hello', sid: rest.subarray(0, SID_BYTES), ya: rest.subarray(SID_BYTES) };
    }
    case 2:
      return { kind: 'share', yb: versioned(bytes, SHARE_BYTES) };
    case 3:
      return { kind: 'guest-confirm', ta: exactly(bytes, 1, TAG_BYTES) };
    case 4:
      return { kind: 'owner-confirm', tb: exactly(bytes, 1, TAG_BYTES) };
    case 5:
      if (bytes[1] === OTHER_VERSION) return { kind: 'other-version', version: exactly(bytes, 2, 1)[0] as number };
      return { kind: 'refused', refusal: refusalOf(exactly(bytes, 1, 1)) };
    case 6:
      if (bytes.length > MAX_MAILBOX_BODY_BYTES) throw malformed();
      return { kind: 'sealed', frame: bytes.subarray(1) };
    case 7: {
      const rest = versioned(bytes, ATTEMPT_BYTES + RETURN_NONCE_BYTES);
      return { kind: 'return', attempt: rest.subarray(0, ATTEMPT_BYTES), nonce: rest.subarray(ATTEMPT_BYTES) };
    }
    case 8:
      return { kind: 'returned', nonce: exactly(bytes, 1, RETURN_NONCE_BYTES) };
    default:
      throw malformed();
  }
}

function versioned(bytes: Uint8Array, length: number): Uint8Array {
  const [, version] = bytes;
  if (version !== undefined && version !== PROTOCOL_VERSION) throw otherVersion(version);
  return exactly(bytes, 2, length);
}

function exactly(bytes: Uint8Array, start: number, length: number): Uint8Array {
  if (bytes.length !== start + length) throw malformed();
  return bytes.subarray(start);
}

function refusalOf(bytes: Uint8Array): Refusal {
  const refusal = REFUSALS[bytes[0] as number];
  if (refusal === undefined) throw malformed();
  return refusal;
}

function malformed(): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED');
}
