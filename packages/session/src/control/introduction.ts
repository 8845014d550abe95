// SPDX-License-Identifier: MPL-2.0
import { type handleUnaryCall, Metadata } from '@grpc/grpc-js';
import type {
  IntroduceProofReply,
  IntroduceProofRequest,
  IntroduceReply,
  IntroduceRequest,
  PeerClient,
  PeerServer,
} from '@keibidrop/proto';
import { KEM_CIPHERTEXT_BYTES, KEM_KEY_BYTES, KeibiError, X25519_BYTES } from '@keibidrop/protocol';
import { encapsulated } from '../handshake/ephemeral.ts';
import { expand, extract, sha512 } from '../keys/hkdf.ts';
import { fingerprintOf, type IdentityKeys, type PublicKeys } from '../keys/identity-keys.ts';
import { loadKem } from '../keys/kem.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';
import { failureOf, refusal } from './refusal.ts';

// Two peers of a session introduce themselves, so that they can become contacts (PROTOCOL 10.4):
//
//   Introduce        responder -> its public keys                      <- initiator's, and a ciphertext for the responder's
//   IntroduceProof   responder -> a ciphertext for the initiator's, proof   <- proof
//
// A proof needs the secrets of both keys and is valid in this session only.

const PROOF_BYTES = 32;
const ANSWER_TIMEOUT_MS = 10_000;

/** Our identity, and the session in which we introduce it. */
export interface Introducing {
  /** The id of that session. */
  sessionId: Uint8Array;
  self: IdentityKeys;
}

/**
 * Introduces us to the initiator, as the responder.
 *
 * @returns  the initiator's keys, which it has proved to have; undefined if the initiator prefers to stay unknown
 * @throws HANDSHAKE_MALFORMED, HANDSHAKE_TAMPERED; the call's failure
 */
export async function introduce(client: PeerClient, { sessionId, self }: Introducing): Promise<PublicKeys | undefined> {
  const [sodium, kem] = await Promise.all([loadSodium(), loadKem()]);
  const request = { x25519: self.x25519.public, kemKey: self.kem.publicKey };
  const reply = await unary<IntroduceReply>((options, done) =>
    client.introduce(request, new Metadata(), options, done),
  );
  if (reply.x25519.length === 0) return undefined;
  const peer = keysIn(reply);
  const ciphertext = exactly(reply.kemCiphertext, KEM_CIPHERTEXT_BYTES);
  const sent = encapsulated(kem, peer.kem);
  const opened = kem.decapsulate(ciphertext, self.kem.secretKey);
  const shared = x25519Of(sodium, self, peer);
  const proofs = proofsOf(sodium, {
    sessionId,
    responder: publicOf(self),
    initiator: peer,
    ciphertexts: [ciphertext, sent.cipherText],
    secrets: [shared, opened, sent.sharedSecret],
  });
  const proof = { kemCiphertext: sent.cipherText, proof: proofs.responder };
  const answer = await unary<IntroduceProofReply>((options, done) =>
    client.introduceProof(proof, new Metadata(), options, done),
  );
  checkProof(sodium, answer.proof, proofs.initiator);
  return peer;
}

/** Answers the responder without an identity. */
export const stayUnknown: PeerServer['introduce'] = (_call, reply) =>
  reply(null, { x25519: new Uint8Array(), kemKey: new Uint8Array(), kemCiphertext: new Uint8Array() });

/** The initiator's side of one session: handlers for the session's Peer service, and their result. */
export class Introduction {
  /**
   * Resolves with the responder's keys once it has proved them. Rejects when the proof fails; pending until the
   * responder tries.
   */
  readonly done: Promise<PublicKeys>;
  readonly #options: Introducing;
  #resolve: (keys: PublicKeys) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #begun: { peer: PublicKeys; ciphertext: Uint8Array; secret: Uint8Array } | undefined;
  #asked = false;

  constructor(options: Introducing) {
    this.#options = options;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.done.catch(() => {});
  }

  /** True once the responder has started to introduce itself. */
  get asked(): boolean {
    return this.#asked;
  }

  readonly introduce: handleUnaryCall<IntroduceRequest, IntroduceReply> = ({ request }, reply) =>
    this.#answer(this.#begin(request), reply);

  readonly introduceProof: handleUnaryCall<IntroduceProofRequest, IntroduceProofReply> = ({ request }, reply) =>
    this.#answer(this.#end(request), reply);

  #answer<T>(answer: Promise<T>, reply: (error: object | null, answer?: T) => void): void {
    answer.then(
      (value) => reply(null, value),
      (reason) => {
        const error = KeibiError.from(reason, 'HANDSHAKE_MALFORMED');
        this.#reject(error);
        reply(refusal(error.code));
      },
    );
  }

  async #begin(request: IntroduceRequest): Promise<IntroduceReply> {
    if (this.#asked) throw new KeibiError('HANDSHAKE_MALFORMED');
    this.#asked = true;
    const peer = keysIn(request);
    const { self } = this.#options;
    const { cipherText, sharedSecret } = encapsulated(await loadKem(), peer.kem);
    this.#begun = { peer, ciphertext: cipherText, secret: sharedSecret };
    return { x25519: self.x25519.public, kemKey: self.kem.publicKey, kemCiphertext: cipherText };
  }

  async #end(request: IntroduceProofRequest): Promise<IntroduceProofReply> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
    const [sodium, kem] = await Promise.all([loadSodium(), loadKem()]);
    const { sessionId, self } = this.#options;
    const ciphertext = exactly(request.kemCiphertext, KEM_CIPHERTEXT_BYTES);
    const opened = kem.decapsulate(ciphertext, self.kem.secretKey);
    const proofs = proofsOf(sodium, {
      sessionId,
      responder: begun.peer,
      initiator: publicOf(self),
      ciphertexts: [begun.ciphertext, ciphertext],
      secrets: [x25519Of(sodium, self, begun.peer), begun.secret, opened],
    });
    checkProof(sodium, request.proof, proofs.responder);
    this.#resolve(begun.peer);
    return { proof: proofs.initiator };
  }
}

interface Introduced {
  sessionId: Uint8Array;
  responder: PublicKeys;
  initiator: PublicKeys;
  /** To the responder's key and to the initiator's. */
  ciphertexts: readonly [Uint8Array, Uint8Array];
  /** The X25519 secret, then the secrets of the ciphertexts. Wiped. */
  secrets: readonly Uint8Array[];
}

function proofsOf(
  sodium: Sodium,
  { sessionId, responder, initiator, ciphertexts, secrets }: Introduced,
): { responder: Uint8Array; initiator: Uint8Array } {
  const transcript = sha512(
    sodium,
    new TextEncoder().encode('KeibiDrop introduction v1'),
    sessionId,
    fingerprintOf(sodium, responder),
    fingerprintOf(sodium, initiator),
    ...ciphertexts,
  );
  const prk = extract(sodium, transcript, ...secrets);
  const proof = (who: string) => expand(sodium, prk, `KeibiDrop introduction ${who}`, PROOF_BYTES);
  const proofs = { responder: proof('responder'), initiator: proof('initiator') };
  wipe(prk, ...secrets);
  return proofs;
}

function checkProof(sodium: Sodium, proof: Uint8Array, expected: Uint8Array): void {
  if (!sodium.memcmp(exactly(proof, PROOF_BYTES), expected)) throw new KeibiError('HANDSHAKE_TAMPERED');
}

function publicOf({ x25519, kem }: IdentityKeys): PublicKeys {
  return { x25519: x25519.public, kem: kem.publicKey };
}

function keysIn({ x25519, kemKey }: { x25519: Uint8Array; kemKey: Uint8Array }): PublicKeys {
  // Copied, because gRPC passes views of larger buffers.
  return { x25519: new Uint8Array(exactly(x25519, X25519_BYTES)), kem: new Uint8Array(exactly(kemKey, KEM_KEY_BYTES)) };
}

function x25519Of(sodium: Sodium, self: IdentityKeys, peer: PublicKeys): Uint8Array {
  try {
    return sodium.crypto_scalarmult(self.x25519.secret, peer.x25519);
  } catch (cause) {
    throw new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
  }
}

function exactly(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new KeibiError('HANDSHAKE_MALFORMED');
  return bytes;
}

function unary<Reply>(
  call: (options: { deadline: number }, done: (error: Error | null, reply: Reply) => void) => unknown,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + ANSWER_TIMEOUT_MS;
    call({ deadline }, (error, reply) => (error ? reject(failureOf(error)) : resolve(reply)));
  });
}
