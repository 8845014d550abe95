// SPDX-License-Identifier: MPL-2.0
import type { handleUnaryCall } from '@grpc/grpc-js';
import type { PeerClient, RekeyReadyReply, RekeyReadyRequest, RekeyReply, RekeyRequest } from '@keibidrop/proto';
import { KeibiError, X25519_BYTES } from '@keibidrop/protocol';
import { encapsulated, type PreparedHandshake, prepareHandshake, x25519Secret } from '../handshake/ephemeral.ts';
import { expand, extract, sha512 } from '../keys/hkdf.ts';
import { type Sodium, wipe } from '../keys/sodium.ts';
import { refusal } from './refusal.ts';

// A rekey (PROTOCOL 4.3): fresh X25519 and ML-KEM-1024 for the lanes of a session that carries a lot of data.
//
//   Rekey       initiator -> number, X25519 share, ML-KEM key      <- X25519 share, ML-KEM ciphertext
//   RekeyReady  initiator -> number: its openers have the secret; the responder's sealers may move

/** The callee wipes each secret (32 bytes). */
export type OnRekey = (number: number, secret: Uint8Array) => void;

/** Limit of rekeys per session: the epoch counts them in one byte. */
export const MAX_REKEYS = 255;

/**
 * Agrees on the secret of rekey `number`, as the initiator.
 *
 * @param number  1 for the first rekey of a session, then one more each time
 * @param onSecret  must give the secret to every reader before it returns
 * @throws the call's failure; HANDSHAKE_MALFORMED for invalid shares
 */
export async function rekey(client: PeerClient, number: number, onSecret: OnRekey): Promise<void> {
  const prepared = await prepareHandshake('initiator');
  try {
    const { sodium, kem, x25519, kemKeys } = prepared;
    if (kemKeys === undefined) throw new KeibiError('INTERNAL');
    const request: RekeyRequest = { number, x25519: x25519.public, kemKey: kemKeys.publicKey };
    const reply = await unary<RekeyReply>((done) => client.rekey(request, done));
    const shared = x25519Secret(prepared, checkedShare(reply.x25519));
    const kemSecret = decapsulated(kem, reply.kemCiphertext, kemKeys.secretKey);
    onSecret(number, rekeySecret(sodium, request, reply, shared, kemSecret));
    await unary<RekeyReadyReply>((done) => client.rekeyReady({ number }, done));
  } finally {
    prepared.wipe();
  }
}

/** The responder's side: handlers for the session's Peer service. */
export class RekeyResponder {
  readonly #onSecret: OnRekey;
  #last = 0;
  /** Agreed on, but the initiator's openers do not have it yet. */
  #waiting: Uint8Array | undefined;

  /** @param onSecret  moves the sealers to the rekey */
  constructor(onSecret: OnRekey) {
    this.#onSecret = onSecret;
  }

  readonly rekey: handleUnaryCall<RekeyRequest, RekeyReply> = ({ request }, reply) => {
    this.#agree(request).then(
      (answer) => reply(null, answer),
      (reason) => reply(refusal(KeibiError.from(reason, 'HANDSHAKE_MALFORMED').code)),
    );
  };

  readonly rekeyReady: handleUnaryCall<RekeyReadyRequest, RekeyReadyReply> = ({ request }, reply) => {
    const secret = this.#waiting;
    if (secret === undefined || request.number !== this.#last) return reply(refusal('HANDSHAKE_MALFORMED'));
    this.#waiting = undefined;
    this.#onSecret(request.number, secret);
    reply(null, {});
  };

  async #agree(request: RekeyRequest): Promise<RekeyReply> {
    if (request.number !== this.#last + 1 || request.number > MAX_REKEYS || this.#waiting !== undefined) {
      throw new KeibiError('HANDSHAKE_MALFORMED');
    }
    this.#last = request.number;
    const prepared = await prepareHandshake('responder');
    try {
      const { sodium, kem, x25519 } = prepared;
      const shared = x25519Secret(prepared, checkedShare(request.x25519));
      const { cipherText, sharedSecret } = encapsulated(kem, request.kemKey);
      const answer: RekeyReply = { x25519: x25519.public, kemCiphertext: cipherText };
      this.#waiting = rekeySecret(sodium, request, answer, shared, sharedSecret);
      return answer;
    } finally {
      prepared.wipe();
    }
  }
}

/** Wipes the two secrets from which it derives the rekey's secret. */
function rekeySecret(
  sodium: Sodium,
  { number, x25519, kemKey }: RekeyRequest,
  answer: RekeyReply,
  shared: Uint8Array,
  kemSecret: Uint8Array,
): Uint8Array {
  const label = new TextEncoder().encode('KeibiDrop rekey v1');
  const transcript = sha512(sodium, label, Uint8Array.of(number), x25519, kemKey, answer.x25519, answer.kemCiphertext);
  const root = extract(sodium, transcript, shared, kemSecret);
  const secret = expand(sodium, root, 'KeibiDrop rekey secret', 32);
  wipe(root, shared, kemSecret);
  return secret;
}

function checkedShare(share: Uint8Array): Uint8Array {
  if (share.length !== X25519_BYTES) throw new KeibiError('HANDSHAKE_MALFORMED');
  return share;
}

function decapsulated(kem: PreparedHandshake['kem'], ciphertext: Uint8Array, key: Uint8Array): Uint8Array {
  try {
    return kem.decapsulate(ciphertext, key);
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
  }
}

function unary<Reply>(call: (done: (error: Error | null, reply: Reply) => void) => unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    call((error, reply) => (error ? reject(KeibiError.from(error, 'SESSION_LOST')) : resolve(reply)));
  });
}
