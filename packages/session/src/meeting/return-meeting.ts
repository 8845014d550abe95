// SPDX-License-Identifier: MPL-2.0
import {
  decodeMeetingMessage,
  encodeMeetingMessage,
  KeibiError,
  type MeetingMessage,
  type MessagePipe,
  otherVersion,
  RETURN_NONCE_BYTES,
} from '@keibidrop/protocol';
import { expand } from '../keys/hkdf.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';
import type { Meeting } from './meeting.ts';
import type { ReturnSecret } from './return-secret.ts';

// Two peers that lost their session meet again in the mailbox, without the code (PROTOCOL 2.2):
//
//   RETURN   guest -> attempt, nonce          <- RETURNED   nonce
//
// Each side's nonce is fresh, so the keys of the candidates that follow are fresh too, even if one side replays old
// messages. Nothing is confirmed here: without the secret a peer can neither read nor make a sealed body.

/**
 * Meets the owner of a mailbox with whom we lost a session. Closes the pipe on failure.
 *
 * @throws RENDEZVOUS_NOT_FOUND when the owner knows no such session; HANDSHAKE_MALFORMED; the errors of the pipe
 */
export async function meetAgainAsGuest(
  pipe: MessagePipe,
  secret: ReturnSecret,
  { signal }: { signal: AbortSignal },
): Promise<Meeting> {
  signal.throwIfAborted();
  const sodium = await loadSodium();
  const nonce = sodium.randombytes_buf(RETURN_NONCE_BYTES);
  try {
    await pipe.send(encodeMeetingMessage({ kind: 'return', attempt: secret.attempt, nonce }));
    const reply = decodeMeetingMessage(await pipe.receive({ signal }));
    if (reply.kind === 'other-version') throw otherVersion(reply.version, { remote: true });
    if (reply.kind === 'refused') throw unknownSession(reply.refusal === 'unknown-session');
    if (reply.kind !== 'returned') throw new KeibiError('HANDSHAKE_MALFORMED');
    return meetingOf(sodium, secret, nonce, reply.nonce);
  } catch (error) {
    pipe.close();
    throw error;
  }
}

/**
 * Meets a guest that has sent `request` to our mailbox. Closes the pipe on failure.
 * @throws the errors of the pipe
 */
export async function meetAgainAsOwner(
  pipe: MessagePipe,
  secret: ReturnSecret,
  request: Extract<MeetingMessage, { kind: 'return' }>,
): Promise<Meeting> {
  // The caller may wipe its copy while the guest is answered.
  const own = secret.copy();
  const sodium = await loadSodium();
  const nonce = sodium.randombytes_buf(RETURN_NONCE_BYTES);
  try {
    await pipe.send(encodeMeetingMessage({ kind: 'returned', nonce }));
    return meetingOf(sodium, own, request.nonce, nonce);
  } catch (error) {
    pipe.close();
    throw error;
  } finally {
    own.wipe();
  }
}

function meetingOf(sodium: Sodium, secret: ReturnSecret, guestNonce: Uint8Array, ownerNonce: Uint8Array): Meeting {
  const attempt = secret.attempt.slice();
  const auth = secret.auth.slice();
  const sealGuest = returnSealKey(sodium, secret.seal, 'guest', guestNonce, ownerNonce);
  const sealOwner = returnSealKey(sodium, secret.seal, 'owner', guestNonce, ownerNonce);
  return { attempt, auth, sealGuest, sealOwner, wipe: () => wipe(auth, sealGuest, sealOwner) };
}

/** The key of the bodies that `writer` seals after these nonces. */
export function returnSealKey(
  sodium: Sodium,
  seal: Uint8Array,
  writer: 'guest' | 'owner',
  guestNonce: Uint8Array,
  ownerNonce: Uint8Array,
): Uint8Array {
  const nonces = new Uint8Array([...guestNonce, ...ownerNonce]);
  return expand(sodium, seal, `KeibiDrop return seal ${writer}`, 32, nonces);
}

/** @param forgotten  the owner says that it does not know the secret; the sender of that message is unproved */
function unknownSession(forgotten: boolean): KeibiError {
  return new KeibiError('RENDEZVOUS_NOT_FOUND', 'The sender no longer knows the session.', {
    detail: { remote: true, forgotten },
  });
}
