// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '../errors.ts';
import { MAX_HANDSHAKE_BYTES } from '../limits.ts';
import { otherVersion, PROTOCOL_VERSION } from '../peer-version.ts';
import { type SuiteOffer, suitesFromBits, suitesToBits } from '../suite.ts';

/** The first eight bytes of a control connection (PROTOCOL 2.1). */
export const CONTROL_PREAMBLE: Uint8Array = new TextEncoder().encode('KEIBI-C1');

/** Length field, version and kind: enough to check and compute the number of bytes that follow. */
export const HANDSHAKE_HEAD_BYTES = 6;
/** Length of a confirm, which comes last in M2. */
export const CONFIRM_BYTES = 32;
export const ATTEMPT_BYTES = 16;
export const X25519_BYTES = 32;
export const KEM_KEY_BYTES = 1568;
export const KEM_CIPHERTEXT_BYTES = 1568;

/** Why a peer ends the handshake. */
export type Alert = 'malformed' | 'unknown-attempt' | 'no-common-suite' | 'confirmation-failed' | 'unknown-version';
const ALERTS: readonly (Alert | undefined)[] = [
  undefined,
  'malformed',
  'unknown-attempt',
  'no-common-suite',
  'confirmation-failed',
  'unknown-version',
];

/** M1. */
export interface InitiatorHello extends SuiteOffer {
  readonly kind: 'initiator-hello';
  readonly attempt: Uint8Array;
  readonly x25519: Uint8Array;
  readonly kemKey: Uint8Array;
}

/** M2. */
export interface ResponderHello extends SuiteOffer {
  readonly kind: 'responder-hello';
  readonly x25519: Uint8Array;
  readonly kemCiphertext: Uint8Array;
  readonly confirm: Uint8Array;
}

/** M3. */
export interface InitiatorConfirm {
  readonly kind: 'initiator-confirm';
  readonly confirm: Uint8Array;
}

export interface HandshakeAlert {
  readonly kind: 'alert';
  readonly alert: Alert;
}

/**
 * One message of the handshake, PROTOCOL 3.
 *
 *   M1:    | length 4 | version 1 | 1   | suites 1 | hardware 1 | attempt 16 | X25519 32 | ML-KEM-1024 ek 1568 |
 *   M2:    | length 4 | version 1 | 2   | suites 1 | hardware 1 | X25519 32 | ML-KEM-1024 ct 1568 | confirm 32 |
 *   M3:    | length 4 | version 1 | 3   | confirm 32 |
 *   alert: | length 4 | version 1 | 255 | alert 1 |
 */
export type HandshakeMessage = InitiatorHello | ResponderHello | InitiatorConfirm | HandshakeAlert;

interface Kind {
  readonly name: HandshakeMessage['kind'];
  /** Required value of the length field. */
  readonly bytes: number;
}

const KINDS: ReadonlyMap<number, Kind> = new Map([
  [1, { name: 'initiator-hello', bytes: 4 + ATTEMPT_BYTES + X25519_BYTES + KEM_KEY_BYTES }],
  [2, { name: 'responder-hello', bytes: 4 + X25519_BYTES + KEM_CIPHERTEXT_BYTES + CONFIRM_BYTES }],
  [3, { name: 'initiator-confirm', bytes: 2 + CONFIRM_BYTES }],
  [255, { name: 'alert', bytes: 3 }],
]);

/** Encodes a message, including its length field. */
export function encodeHandshakeMessage(message: HandshakeMessage): Uint8Array {
  switch (message.kind) {
    case 'initiator-hello':
      return joined(1, [offerBytes(message), message.attempt, message.x25519, message.kemKey]);
    case 'responder-hello':
      return joined(2, [offerBytes(message), message.x25519, message.kemCiphertext, message.confirm]);
    case 'initiator-confirm':
      return joined(3, [message.confirm]);
    case 'alert':
      return joined(255, [Uint8Array.of(ALERTS.indexOf(message.alert))]);
  }
}

/**
 * Reads a message's first `HANDSHAKE_HEAD_BYTES` and returns the number of bytes that follow, which is fixed per kind.
 *
 * @throws PEER_NEWER or PEER_OLDER for another version, by an alert as `remote`; HANDSHAKE_MALFORMED for an unknown kind, or
 * a wrong length for the kind
 */
export function handshakeBodyBytes(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const version = view.getUint8(4);
  const kind = KINDS.get(view.getUint8(5));
  const known = kind !== undefined && view.getUint32(0) === kind.bytes;
  // An alert looks the same in every version, and no message of any version is longer.
  if (version !== PROTOCOL_VERSION && view.getUint32(0) <= MAX_HANDSHAKE_BYTES) {
    throw otherVersion(version, { remote: known && kind.name === 'alert' });
  }
  if (!known || version !== PROTOCOL_VERSION) throw new KeibiError('HANDSHAKE_MALFORMED');
  return kind.bytes - 2;
}

/**
 * Decodes one complete message, including its length field; its fields are views of `bytes`.
 *
 * @throws HANDSHAKE_MALFORMED, PEER_NEWER, PEER_OLDER
 */
export function decodeHandshakeMessage(bytes: Uint8Array): HandshakeMessage {
  if (bytes.length < HANDSHAKE_HEAD_BYTES) throw new KeibiError('HANDSHAKE_MALFORMED');
  if (bytes.length !== HANDSHAKE_HEAD_BYTES + handshakeBodyBytes(bytes)) throw new KeibiError('HANDSHAKE_MALFORMED');
  let at = HANDSHAKE_HEAD_BYTES;
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  switch (KINDS.get(bytes[5] as number)?.name) {
    case 'initiator-hello':
      return {
        kind: 'initiator-hello',
        ...offerOf(take(2)),
        attempt: take(ATTEMPT_BYTES),
        x25519: take(X25519_BYTES),
        kemKey: take(KEM_KEY_BYTES),
      };
    case 'responder-hello':
      return {
        kind: 'responder-hello',
        ...offerOf(take(2)),
        x25519: take(X25519_BYTES),
        kemCiphertext: take(KEM_CIPHERTEXT_BYTES),
        confirm: take(CONFIRM_BYTES),
      };
    case 'initiator-confirm':
      return { kind: 'initiator-confirm', confirm: take(CONFIRM_BYTES) };
    default:
      return { kind: 'alert', alert: alertOf(take(1)) };
  }
}

function joined(kind: number, parts: readonly Uint8Array[]): Uint8Array {
  const bodyBytes = parts.reduce((sum, part) => sum + part.length, 0);
  const message = new Uint8Array(HANDSHAKE_HEAD_BYTES + bodyBytes);
  new DataView(message.buffer).setUint32(0, 2 + bodyBytes);
  message[4] = PROTOCOL_VERSION;
  message[5] = kind;
  let at = HANDSHAKE_HEAD_BYTES;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  return message;
}

function offerBytes(offer: SuiteOffer): Uint8Array {
  return Uint8Array.of(suitesToBits(offer.suites), offer.hardware ? 1 : 0);
}

function offerOf(bytes: Uint8Array): SuiteOffer {
  const [suites = 0, hardware = 0] = bytes;
  if (hardware > 1) throw new KeibiError('HANDSHAKE_MALFORMED');
  return { suites: suitesFromBits(suites), hardware: hardware === 1 };
}

function alertOf(bytes: Uint8Array): Alert {
  const alert = ALERTS[bytes[0] as number];
  if (alert === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
  return alert;
}
