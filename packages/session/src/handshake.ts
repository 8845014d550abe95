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
import { encapsulated, type PreparedHandshake, prepareHandshake, x25519Secret } from './ephemeral.ts';
import { alertError, HandshakeWire, type WireOptions } from './handshake-wire.ts';
import { initiatorConfirm, type Keys, responderConfirm, rootKey, sessionKeys, transcriptOf } from './key-schedule.ts';
import { wipe } from './sodium.ts';

// The handshake of PROTOCOL 3, over one connection:
//
//   M1 initiator -> suites, attempt, X25519 share, ML-KEM key
//   M2 responder -> suites,          X25519 share, ML-KEM ciphertext, confirm
//   M3 initiator ->                                                   confirm

export interface HandshakeOptions extends SuiteOffer, WireOptions {
  /** What `prepareHandshake` of our role has begun; used up. Without it the keys are drawn now. */
  readonly prepared?: Promise<PreparedHandshake>;
}

export interface InitiatorOptions extends HandshakeOptions {
  /** Names the meeting at which `auth` was agreed; both stay the caller's. */
  readonly attempt: Uint8Array;
  readonly auth: Uint8Array;
  /** Called when the peer has proved itself, right before we do; what it throws ends the handshake. Of several with one attempt one may go on. */
  beforeConfirm?(): void;
}

export interface ResponderOptions extends HandshakeOptions {
  /** The `auth` of a meeting, which stays the caller's, or undefined when there is none that is open. */
  authOf(attempt: Uint8Array): Uint8Array | undefined;
}

/**
 * Shakes hands over a connection that we dialled, beginning with its preamble.
 *
 * Afterwards the stream stands right behind M2; on failure it is ended.
 *
 * @throws HANDSHAKE_MALFORMED, HANDSHAKE_NO_COMMON_SUITE, HANDSHAKE_TAMPERED, HANDSHAKE_TIMEOUT, SESSION_LOST; the signal's reason
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
 * Shakes hands over a connection dialled to us, whose preamble has been read.
 *
 * Afterwards the stream stands right behind M3; on failure it is ended.
 *
 * @throws as `handshakeAsInitiator`; HANDSHAKE_MALFORMED too for an attempt that `authOf` does not know
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

/** Secrets that live no longer than the handshake. */
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

/** What both roles do around their messages: keys before; the stream handed on or ended, and secrets zeroed, after. */
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
