// SPDX-License-Identifier: MPL-2.0
import { parseCode } from '../code.ts';
import { KeibiError } from '../errors.ts';
import { MAX_LABEL_BYTES } from '../limits.ts';
import { otherVersion, PROTOCOL_VERSION } from '../peer-version.ts';
import { KEM_CIPHERTEXT_BYTES, KEM_KEY_BYTES, X25519_BYTES } from './handshake-message.ts';
import { decodeRotationMessage, encodeRotationMessage, type RotationMessage } from './rotation-message.ts';

/** Fresh randomness from each side, so that every conversation of two contacts has its own keys. */
export const CONTACT_NONCE_BYTES = 32;
/** Length of an invitation's unique id. */
export const INVITATION_ID_BYTES = 16;

/** Length, nonce and tag of a frame (PROTOCOL 4.1). */
const FRAME_OVERHEAD_BYTES = 32;
const OPENING_HEAD_BYTES = 2 + CONTACT_NONCE_BYTES;
const MAX_CODE_BYTES = 255;

/**
 * One of the bodies with which two contacts meet in a mailbox, PROTOCOL 10.2. `frame` is sealed.
 *
 *   KEYS:          |  9 | version 1 | nonce 32 | frame (X25519 key 32, ML-KEM key 1568) |      either side, at first contact only
 *   CONTACT:       | 10 | version 1 | nonce 32 | frame (ML-KEM ciphertext 1568) |              guest
 *   CONTACT-REPLY: | 11 | version 1 | nonce 32 | frame (ML-KEM ciphertext 1568) |              owner
 */
export interface ContactOpening {
  readonly kind: OpeningKind;
  readonly nonce: Uint8Array;
  readonly frame: Uint8Array;
}
export type OpeningKind = 'keys' | 'contact' | 'contact-reply';

const OPENINGS: Readonly<Record<OpeningKind, { readonly byte: number; readonly plaintextBytes: number }>> = {
  keys: { byte: 9, plaintextBytes: X25519_BYTES + KEM_KEY_BYTES },
  contact: { byte: 10, plaintextBytes: KEM_CIPHERTEXT_BYTES },
  'contact-reply': { byte: 11, plaintextBytes: KEM_CIPHERTEXT_BYTES },
};

export function encodeContactOpening({ kind, nonce, frame }: ContactOpening): Uint8Array {
  const body = new Uint8Array(OPENING_HEAD_BYTES + frame.length);
  body.set([OPENINGS[kind].byte, PROTOCOL_VERSION]);
  body.set(nonce, 2);
  body.set(frame, OPENING_HEAD_BYTES);
  return body;
}

/**
 * Decodes the expected body; its fields are views of `body`.
 *
 * @throws HANDSHAKE_MALFORMED for another kind, or a wrong length for the kind; PEER_NEWER or PEER_OLDER for another version
 */
export function decodeContactOpening<K extends OpeningKind>(body: Uint8Array, kind: K): ContactOpening {
  const { byte, plaintextBytes } = OPENINGS[kind];
  if (body[0] !== byte) throw malformed();
  const [, version] = body;
  if (version !== undefined && version !== PROTOCOL_VERSION) throw otherVersion(version);
  if (body.length !== OPENING_HEAD_BYTES + FRAME_OVERHEAD_BYTES + plaintextBytes) throw malformed();
  return { kind, nonce: body.subarray(2, OPENING_HEAD_BYTES), frame: body.subarray(OPENING_HEAD_BYTES) };
}

/** Subject of an invitation: a transfer of files, a text, or a live shared folder. */
export type InvitedTo = 'files' | 'text' | 'share';
const INVITED_TO = [undefined, 'files', 'text', 'share'] as const satisfies readonly (InvitedTo | undefined)[];

/** A code for one meeting, sent to a contact. */
export interface Invitation {
  readonly id: Uint8Array;
  /** `Code.text`. Secret. */
  readonly code: string;
  readonly to: InvitedTo;
  /** Description, at most MAX_LABEL_BYTES of UTF-8. Untrusted text of the peer: sanitise it before display. */
  readonly label: string;
  /** Size as claimed by the peer; absent if the peer cannot know it before sending. */
  readonly size?: { readonly files: number; readonly bytes: number } | undefined;
}

/**
 * Response to an invitation.
 *
 * - `taken`: the meeting has begun.
 * - `asked`: a person is asked, and another verdict follows.
 * - `declined`: that person has declined.
 * - `refused`: a rule has refused.
 * - `blocked`: the contact accepts nothing from us.
 * - `busy`: there is no room now; try again.
 */
export type Verdict = 'taken' | 'asked' | 'refused' | 'blocked' | 'declined' | 'busy';
const VERDICTS = [undefined, 'taken', 'asked', 'refused', 'blocked', 'declined', 'busy'] as const satisfies readonly (
  | Verdict
  | undefined
)[];

/** Why a conversation ends. */
export type Farewell = 'leaving' | 'blocked';
const FAREWELLS = [undefined, 'leaving', 'blocked'] as const satisfies readonly (Farewell | undefined)[];

/**
 * A message between two contacts after they have met, PROTOCOL 10.3: the plaintext of a sealed body.
 *
 *   READY:         | 1 |                                                          first message of either side, its proof
 *   PING:          | 2 |
 *   PONG:          | 3 |
 *   INVITE:        | 4 | id 16 | to 1 | code length 1 | code | label, the rest |
 *     to + 128: files 4 and bytes 8 between code and label
 *   INVITE-REPLY:  | 5 | id 16 | verdict 1 |
 *   WITHDRAW:      | 6 | id 16 |
 *   BYE:           | 7 | reason 1 |
 *
 * RotationMessage has the kinds from 8 on.
 */
export type ContactMessage =
  | RotationMessage
  | { readonly kind: 'ready' | 'ping' | 'pong' }
  | { readonly kind: 'invite'; readonly invitation: Invitation }
  | { readonly kind: 'invite-reply'; readonly id: Uint8Array; readonly verdict: Verdict }
  | { readonly kind: 'withdraw'; readonly id: Uint8Array }
  | { readonly kind: 'bye'; readonly reason: Farewell };

/** @throws RangeError for an id, code, label, key or proof of an invalid length */
export function encodeContactMessage(message: ContactMessage): Uint8Array {
  switch (message.kind) {
    case 'ready':
      return Uint8Array.of(1);
    case 'ping':
      return Uint8Array.of(2);
    case 'pong':
      return Uint8Array.of(3);
    case 'invite':
      return encodeInvitation(message.invitation);
    case 'invite-reply':
      return Uint8Array.of(5, ...idOf(message.id), VERDICTS.indexOf(message.verdict));
    case 'withdraw':
      return Uint8Array.of(6, ...idOf(message.id));
    case 'bye':
      return Uint8Array.of(7, FAREWELLS.indexOf(message.reason));
    default:
      return encodeRotationMessage(message);
  }
}

/**
 * Decodes one message; ids, keys and proofs are views of `bytes`.
 *
 * @throws HANDSHAKE_MALFORMED
 */
export function decodeContactMessage(bytes: Uint8Array): ContactMessage {
  switch (bytes[0]) {
    case 1:
    case 2:
    case 3:
      exactly(bytes, 0);
      return { kind: (['ready', 'ping', 'pong'] as const)[bytes[0] - 1] as 'ready' | 'ping' | 'pong' };
    case 4:
      return { kind: 'invite', invitation: decodeInvitation(bytes) };
    case 5: {
      const rest = exactly(bytes, INVITATION_ID_BYTES + 1);
      const verdict = known(VERDICTS, rest[INVITATION_ID_BYTES]);
      return { kind: 'invite-reply', id: rest.subarray(0, INVITATION_ID_BYTES), verdict };
    }
    case 6:
      return { kind: 'withdraw', id: exactly(bytes, INVITATION_ID_BYTES) };
    case 7:
      return { kind: 'bye', reason: known(FAREWELLS, exactly(bytes, 1)[0]) };
    default:
      return decodeRotationMessage(bytes) ?? raise(malformed());
  }
}

/** Added to `to` of an invitation with a size. */
const SIZED = 0x80;
const SIZE_BYTES = 12;

function encodeInvitation({ id, code, to, label, size }: Invitation): Uint8Array {
  const encoder = new TextEncoder();
  const [codeBytes, labelBytes] = [encoder.encode(code), encoder.encode(label)];
  if (codeBytes.length > MAX_CODE_BYTES) throw new RangeError(`a code of ${codeBytes.length} bytes`);
  if (labelBytes.length > MAX_LABEL_BYTES) throw new RangeError(`a label of ${labelBytes.length} bytes`);
  const kind = INVITED_TO.indexOf(to) + (size === undefined ? 0 : SIZED);
  const sizeBytes = new Uint8Array(size === undefined ? 0 : SIZE_BYTES);
  if (size !== undefined) {
    const view = new DataView(sizeBytes.buffer);
    view.setUint32(0, size.files);
    view.setBigUint64(4, BigInt(size.bytes));
  }
  return Uint8Array.of(4, ...idOf(id), kind, codeBytes.length, ...codeBytes, ...sizeBytes, ...labelBytes);
}

const CODE_AT = 1 + INVITATION_ID_BYTES + 2;

function decodeInvitation(bytes: Uint8Array): Invitation {
  const [kind = 0, codeLength = 0] = bytes.subarray(CODE_AT - 2);
  const sized = (kind & SIZED) !== 0;
  const codeEnd = CODE_AT + codeLength;
  const labelAt = codeEnd + (sized ? SIZE_BYTES : 0);
  if (bytes.length < labelAt || bytes.length - labelAt > MAX_LABEL_BYTES) throw malformed();
  return {
    id: bytes.subarray(1, CODE_AT - 2),
    to: known(INVITED_TO, kind & ~SIZED),
    code: codeIn(bytes.subarray(CODE_AT, codeEnd)),
    label: textOf(bytes.subarray(labelAt)),
    ...(sized && { size: sizeOf(bytes.subarray(codeEnd, labelAt)) }),
  };
}

function sizeOf(bytes: Uint8Array): { files: number; bytes: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = { files: view.getUint32(0), bytes: Number(view.getBigUint64(4)) };
  if (!Number.isSafeInteger(size.bytes)) throw malformed();
  return size;
}

/** A code in its canonical spelling. */
function codeIn(bytes: Uint8Array): string {
  const text = textOf(bytes);
  try {
    if (parseCode(text).text === text) return text;
  } catch (cause) {
    throw malformed(cause);
  }
  throw malformed();
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw malformed(cause);
  }
}

function idOf(id: Uint8Array): Uint8Array {
  if (id.length !== INVITATION_ID_BYTES) throw new RangeError(`an invitation's id of ${id.length} bytes`);
  return id;
}

function known<T>(table: readonly (T | undefined)[], byte: number | undefined): T {
  const value = table[byte ?? 0];
  if (value === undefined) throw malformed();
  return value;
}

function exactly(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== 1 + length) throw malformed();
  return bytes.subarray(1);
}

function raise(error: KeibiError): never {
  throw error;
}

function malformed(cause?: unknown): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
}
