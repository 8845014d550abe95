// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '../errors.ts';
import { KEM_CIPHERTEXT_BYTES, KEM_KEY_BYTES, X25519_BYTES } from './handshake-message.ts';

/** Length of a proof of possession of an identity's secrets (PROTOCOL 10.4, 10.6). */
export const ROTATION_PROOF_BYTES = 32;

/** Why a contact refuses a new identity. `final`: announcing it again is useless. `later`: there were too many changes. */
export type RotationRefusal = 'final' | 'later';
const REFUSALS = [undefined, 'final', 'later'] as const satisfies readonly (RotationRefusal | undefined)[];

/**
 * The messages that announce a new identity to a contact, PROTOCOL 10.6. Plaintexts like those of ContactMessage.
 *
 *   ROTATE:         |  8 | X25519 key 32 | ML-KEM key 1568 |   the announcer's new keys
 *   ROTATE-TEST:    |  9 | ML-KEM ciphertext 1568 |            for the new ML-KEM key
 *   ROTATE-PROOF:   | 10 | proof 32 |                          the announcer holds the new secrets
 *   ROTATED:        | 11 | proof 32 |                          the contact has stored the new keys
 *   ROTATE-REFUSED: | 12 | reason 1 |
 */
export type RotationMessage =
  | { readonly kind: 'rotate'; readonly x25519: Uint8Array; readonly kem: Uint8Array }
  | { readonly kind: 'rotate-test'; readonly ciphertext: Uint8Array }
  | { readonly kind: 'rotate-proof' | 'rotated'; readonly proof: Uint8Array }
  | { readonly kind: 'rotate-refused'; readonly reason: RotationRefusal };

/** @throws RangeError for a key, ciphertext or proof of an invalid length */
export function encodeRotationMessage(message: RotationMessage): Uint8Array {
  switch (message.kind) {
    case 'rotate':
      return joined(8, sized(message.x25519, X25519_BYTES), sized(message.kem, KEM_KEY_BYTES));
    case 'rotate-test':
      return joined(9, sized(message.ciphertext, KEM_CIPHERTEXT_BYTES));
    case 'rotate-proof':
      return joined(10, sized(message.proof, ROTATION_PROOF_BYTES));
    case 'rotated':
      return joined(11, sized(message.proof, ROTATION_PROOF_BYTES));
    case 'rotate-refused':
      return Uint8Array.of(12, REFUSALS.indexOf(message.reason));
  }
}

/**
 * Decodes one message; its fields are views of `bytes`.
 *
 * @returns  undefined for any other kind
 * @throws   HANDSHAKE_MALFORMED for a wrong length for the kind, or an unknown reason
 */
export function decodeRotationMessage(bytes: Uint8Array): RotationMessage | undefined {
  switch (bytes[0]) {
    case 8: {
      const keys = fields(bytes, X25519_BYTES + KEM_KEY_BYTES);
      return { kind: 'rotate', x25519: keys.subarray(0, X25519_BYTES), kem: keys.subarray(X25519_BYTES) };
    }
    case 9:
      return { kind: 'rotate-test', ciphertext: fields(bytes, KEM_CIPHERTEXT_BYTES) };
    case 10:
      return { kind: 'rotate-proof', proof: fields(bytes, ROTATION_PROOF_BYTES) };
    case 11:
      return { kind: 'rotated', proof: fields(bytes, ROTATION_PROOF_BYTES) };
    case 12: {
      const reason = REFUSALS[fields(bytes, 1)[0] ?? 0];
      if (reason === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
      return { kind: 'rotate-refused', reason };
    }
    default:
      return undefined;
  }
}

function joined(kind: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 1));
  bytes[0] = kind;
  let at = 1;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function sized(field: Uint8Array, length: number): Uint8Array {
  if (field.length !== length) throw new RangeError(`a field of ${field.length} bytes in place of ${length}`);
  return field;
}

function fields(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== 1 + length) throw new KeibiError('HANDSHAKE_MALFORMED');
  return bytes.subarray(1);
}
