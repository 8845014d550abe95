// SPDX-License-Identifier: MPL-2.0
import { KeibiError, type MessagePipe, X25519_BYTES } from '@keibidrop/protocol';
import { encapsulated } from '../handshake/ephemeral.ts';
import { expand, sha512 } from '../keys/hkdf.ts';
import { fingerprintOf, type IdentityKeys, type PublicKeys } from '../keys/identity-keys.ts';
import { loadKem } from '../keys/kem.ts';
import { PairKey } from '../keys/pair-key.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';
import { exchangeOpenings, type Openings } from './contact-openings.ts';
import { SealedConversation } from './sealed-conversation.ts';

// Two contacts meet in a mailbox that only they can name (PROTOCOL 10.2):
//
//   KEYS            guest, then owner, at first contact only: public keys, which must be those of the fingerprints
//   CONTACT         guest -> a ciphertext for the owner's ML-KEM key
//   CONTACT-REPLY   owner -> a ciphertext for the guest's
//   SEALED ready    owner, then guest: proof that each has opened what the other sent
//
// Without the X25519 secret and the ML-KEM secret of its fingerprint a peer cannot derive the keys of the messages that
// follow, so its messages are refused.

export interface ContactMeetingOptions {
  self: IdentityKeys;
  /**
   * From `PairKey.of`, or from `PairKey.ofFingerprints` at the mailbox of a first contact. The caller keeps ownership.
   */
  pair: PairKey;
  /** Also carries the caller's deadline. */
  signal: AbortSignal;
}

export interface OwnerMeetingOptions extends ContactMeetingOptions {
  /** The guest's first body, if the caller has already received it. */
  first?: Uint8Array;
  /** Refuses the guest. The refusal is sealed, so only the guest can read it. */
  blocked?: boolean;
}

/** A contact that has proved its fingerprint. */
export interface MetContact {
  /** The caller closes it. */
  readonly conversation: SealedConversation;
  /** The caller saves these when it knew only the fingerprint. */
  readonly keys: PublicKeys;
}

/**
 * Meets the owner of a mailbox, as drawn above. Closes the pipe on failure.
 *
 * @throws CONTACT_BLOCKED when the owner blocks us; HANDSHAKE_FINGERPRINT_MISMATCH when the keys belong to another
 * fingerprint or stay unproved; HANDSHAKE_TAMPERED; HANDSHAKE_MALFORMED; the errors of the pipe
 */
export async function meetContactAsGuest(pipe: MessagePipe, options: ContactMeetingOptions): Promise<MetContact> {
  const { signal } = options;
  const met = await meet({ pipe, side: 'guest', signal, first: undefined }, options);
  return closedOnFailure(met.conversation, async () => {
    await proof(met.conversation, signal);
    await met.conversation.send({ kind: 'ready' });
    return met;
  });
}

/**
 * Meets one guest of the mailbox that we keep for a contact. Closes the pipe on failure.
 * @throws as `meetContactAsGuest`; CONTACT_BLOCKED if `blocked`
 */
export async function meetContactAsOwner(pipe: MessagePipe, options: OwnerMeetingOptions): Promise<MetContact> {
  const { signal, first, blocked } = options;
  const met = await meet({ pipe, side: 'owner', signal, first }, options);
  return closedOnFailure(met.conversation, async () => {
    await met.conversation.send(blocked ? { kind: 'bye', reason: 'blocked' } : { kind: 'ready' });
    if (blocked) throw new KeibiError('CONTACT_BLOCKED', 'A contact that you have blocked was refused.');
    await proof(met.conversation, signal);
    return met;
  });
}

/** Runs the meeting up to the conversation keys. Neither side has proved its keys yet. */
async function meet(openings: Openings, { self, pair: given }: ContactMeetingOptions): Promise<MetContact> {
  openings.signal.throwIfAborted();
  const [sodium, kem] = await Promise.all([loadSodium(), loadKem()]);
  let introduced: PairKey | undefined;
  const secrets: Uint8Array[] = [];
  try {
    if (given.peer.keys === undefined) introduced = await introduce(openings, sodium, self, given);
    const pair = introduced ?? given;
    const keys = pair.peer.keys as PublicKeys;
    const { own, theirs, nonces } = await exchangeOpenings(openings, pair, ['contact', 'contact-reply'], () => {
      const { cipherText, sharedSecret } = encapsulated(kem, keys.kem);
      secrets.push(sharedSecret);
      return cipherText;
    });
    secrets.push(kem.decapsulate(theirs, self.kem.secretKey));
    const fingerprints = [self.fingerprint, pair.peer.fingerprint];
    // Both sides use one order: the guest's value first.
    const inOrder = <T>(ownFirst: readonly T[]) => (openings.side === 'guest' ? ownFirst : [...ownFirst].reverse());
    const transcript = sha512(
      sodium,
      new TextEncoder().encode('KeibiDrop contact v1'),
      ...inOrder(fingerprints),
      ...nonces,
      ...inOrder([own, theirs]),
    );
    const root = pair.root(transcript, ...inOrder(secrets));
    secrets.push(root);
    return { conversation: conversationOf(sodium, openings, root), keys };
  } catch (error) {
    openings.pipe.close();
    throw error;
  } finally {
    wipe(...secrets);
    introduced?.wipe();
  }
}

/**
 * Exchanges public keys at first contact.
 * @throws HANDSHAKE_FINGERPRINT_MISMATCH when the contact's keys do not match the expected fingerprint
 */
async function introduce(openings: Openings, sodium: Sodium, self: IdentityKeys, first: PairKey): Promise<PairKey> {
  const own = new Uint8Array([...self.x25519.public, ...self.kem.publicKey]);
  const { theirs } = await exchangeOpenings(openings, first, ['keys', 'keys'], () => own);
  const keys = { x25519: theirs.slice(0, X25519_BYTES), kem: theirs.slice(X25519_BYTES) };
  if (!sodium.memcmp(fingerprintOf(sodium, keys), first.peer.fingerprint)) {
    throw new KeibiError('HANDSHAKE_FINGERPRINT_MISMATCH');
  }
  return PairKey.of(self, keys);
}

function conversationOf(sodium: Sodium, { pipe, side }: Openings, root: Uint8Array): SealedConversation {
  const [guest, owner] = ['guest', 'owner'].map((who) => expand(sodium, root, `KeibiDrop contact ${who}`, 32));
  const [write, read] = (side === 'guest' ? [guest, owner] : [owner, guest]) as [Uint8Array, Uint8Array];
  return new SealedConversation(pipe, { write, read });
}

/** Waits for the contact's first body, sealed with keys that only the contact can derive. */
async function proof(conversation: SealedConversation, signal: AbortSignal): Promise<void> {
  const message = await conversation.receive({ signal }).catch((reason: unknown) => {
    throw unproved(reason);
  });
  if (message.kind === 'ready') return;
  if (message.kind !== 'bye') throw new KeibiError('HANDSHAKE_MALFORMED');
  const code = message.reason === 'blocked' ? 'CONTACT_BLOCKED' : 'SESSION_CLOSED';
  throw new KeibiError(code, undefined, { detail: { remote: true } });
}

function unproved(reason: unknown): unknown {
  if (!(reason instanceof KeibiError && reason.code.startsWith('FRAME_'))) return reason;
  return new KeibiError('HANDSHAKE_FINGERPRINT_MISMATCH', undefined, { cause: reason });
}

async function closedOnFailure<T>(conversation: SealedConversation, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    conversation.close();
    throw error;
  }
}
