// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import {
  CONFIRM_BYTES,
  CONTROL_PREAMBLE,
  chooseSuite,
  encodeHandshakeMessage,
  KeibiError,
  type Suite,
  type SuiteOffer,
} from '@keibidrop/protocol';
import { wipe } from '../keys/sodium.ts';
import { encapsulated, type PreparedHandshake, prepareHandshake, x25519Secret } from './ephemeral.ts';
import { alertError, HandshakeWire, type WireOptions } from './handshake-wire.ts';
import { initiatorConfirm, type Keys, responderConfirm, rootKey, sessionKeys, transcriptOf } from './key-schedule.ts';

// The handshake of PROTOCOL 3, over one connection:
//
//   M1 initiator -> suites, attempt, X25519 share, ML-KEM key
//   M2 responder -> suites,          X25519 share, ML-KEM ciphertext, confirm
//   M3 initiator ->                                                   confirm

export interface HandshakeOptions extends SuiteOffer, WireOptions {
  /** The result of `prepareHandshake` for our role; consumed. Without it the keys are drawn now. */
  readonly prepared?: Promise<PreparedHandshake>;
}

export interface InitiatorOptions extends HandshakeOptions {
  /** Names the meeting that produced `auth`. The caller keeps ownership of both. */
  readonly attempt: Uint8Array;
  readonly auth: Uint8Array;
  /**
   * Called once the peer has proved itself, right before our own proof. If it throws, the handshake ends: of several
   * handshakes with one attempt it lets one succeed.
   */
  beforeConfirm?(): void;
}

export interface ResponderOptions extends HandshakeOptions {
  /** Returns the `auth` of a meeting, owned by the caller, or undefined when no such meeting is open. */
  authOf(attempt: Uint8Array): Uint8Array | undefined;
}

/**
 * Runs the handshake over a connection that we dialled, starting with the preamble.
 *
 * Afterwards the stream is positioned right after M2. On failure the stream is ended.
 *
 * @throws HANDSHAKE_MALFORMED, PEER_NEWER, PEER_OLDER, HANDSHAKE_NO_COMMON_SUITE, HANDSHAKE_TAMPERED, HANDSHAKE_TIMEOUT, SESSION_LOST; the
 * signal's reason
 */
export async function handshakeAsInitiator(stream: Duplex, options: InitiatorOptions): Promise<Keys> {
  return handshake(stream, options, 'initiator', async (wire, prepared, secrets) => {
    const { sodium, kem, x25519, kemKeys } = prepared;
    if (kemKeys === undefined) throw new KeibiError('INTERNAL', 'A responder’s keys were given to an initiator.');
    const hello = encodeHandshakeMessage({
      kind: 'initiator-hello',
      suites: options.suites,
      hardware: options.hardware,
      attempt: options.attempt,
      x25519: x25519.public,
      kemKey: kemKeys.publicKey,
    });
    wire.send(CONTROL_PREAMBLE, hello);

    const { message: reply, bytes } = await wire.receive('responder-hello');
    const suite = agreedSuite(options, reply);
    const shared = secrets.keep(x25519Secret(prepared, reply.x25519));
    const kemSecret = secrets.keep(kem.decapsulate(reply.kemCiphertext, kemKeys.secretKey));
    const transcript = transcriptOf(sodium, hello, bytes);
    const root = secrets.keep(rootKey(sodium, transcript, { x25519: shared, kem: kemSecret, auth: options.auth }));
    if (!sodium.memcmp(reply.confirm, responderConfirm(sodium, root, transcript)))
      throw alertError('confirmation-failed');

    options.beforeConfirm?.();
    const confirm = initiatorConfirm(sodium, root, transcript, reply.confirm);
    wire.send(encodeHandshakeMessage({ kind: 'initiator-confirm', confirm }));
    return sessionKeys(sodium, root, suite, 'initiator');
  });
}

/**
 * Runs the handshake over an accepted connection whose preamble has already been read.
 *
 * Afterwards the stream is positioned right after M3. On failure the stream is ended.
 *
 * @throws as `handshakeAsInitiator`; also HANDSHAKE_MALFORMED for an attempt that `authOf` does not know
 */
export async function handshakeAsResponder(
  stream: Duplex,
  options: ResponderOptions,
): Promise<Keys & { readonly attempt: Uint8Array }> {
  return handshake(stream, options, 'responder', async (wire, prepared, secrets) => {
    const { sodium, kem, x25519 } = prepared;
    const { message: hello, bytes } = await wire.receive('initiator-hello');
    const auth = options.authOf(hello.attempt);
    if (auth === undefined) throw alertError('unknown-attempt');
    const suite = agreedSuite(options, hello);
    const shared = secrets.keep(x25519Secret(prepared, hello.x25519));
    const { cipherText, sharedSecret } = encapsulated(kem, hello.kemKey);
    secrets.keep(sharedSecret);

    const reply = encodeHandshakeMessage({
      kind: 'responder-hello',
      suites: options.suites,
      hardware: options.hardware,
      x25519: x25519.public,
      kemCiphertext: cipherText,
      confirm: new Uint8Array(CONFIRM_BYTES),
    });
    const transcript = transcriptOf(sodium, bytes, reply);
    const root = secrets.keep(rootKey(sodium, transcript, { x25519: shared, kem: sharedSecret, auth }));
    const confirm = responderConfirm(sodium, root, transcript);
    reply.set(confirm, reply.length - CONFIRM_BYTES);
    wire.send(reply);

    const { message: answer } = await wire.receive('initiator-confirm');
    if (!sodium.memcmp(answer.confirm, initiatorConfirm(sodium, root, transcript, confirm))) {
      throw alertError('confirmation-failed');
    }
    return { ...sessionKeys(sodium, root, suite, 'responder'), attempt: hello.attempt.slice() };
  });
}

/** Secrets that are wiped when the handshake ends. */
class SecretsInUse {
  readonly #secrets: Uint8Array[] = [];

  keep(secret: Uint8Array): Uint8Array {
    this.#secrets.push(secret);
    return secret;
  }

  wipe(): void {
    wipe(...this.#secrets);
  }
}

/** The frame of both roles: prepares the keys, then releases or ends the stream and zeroes the secrets. */
async function handshake<T>(
  stream: Duplex,
  options: HandshakeOptions,
  role: 'initiator' | 'responder',
  exchange: (wire: HandshakeWire, prepared: PreparedHandshake, secrets: SecretsInUse) => Promise<T>,
): Promise<T> {
  options.signal.throwIfAborted();
  const wire = new HandshakeWire(stream, options);
  const secrets = new SecretsInUse();
  let prepared: PreparedHandshake | undefined;
  try {
    prepared = await (options.prepared ?? prepareHandshake(role));
    const result = await exchange(wire, prepared, secrets);
    wire.release();
    return result;
  } catch (error) {
    wire.refuse(error);
    throw error;
  } finally {
    prepared?.wipe();
    secrets.wipe();
  }
}

function agreedSuite(self: SuiteOffer, peer: SuiteOffer): Suite {
  const suite = chooseSuite(self, peer);
  if (suite === undefined) throw alertError('no-common-suite');
  return suite;
}
