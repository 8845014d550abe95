// SPDX-License-Identifier: MPL-2.0
import { type handleUnaryCall, status } from '@grpc/grpc-js';
import type { PeerServer } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type IdentityKeys,
  Introduction,
  introduce,
  openSession,
  type PeerHandlers,
  type PublicKeys,
  type Session,
} from '../src/index.ts';
import { person, publicKeys } from './contact-meetings.ts';
import { agreedKeys, connectedSockets } from './loopback.ts';

const NO_CALLS: PeerHandlers = {
  transfer: (call) => call.emit('error', { code: status.UNIMPLEMENTED, details: 'no transfers here' }),
  digests: (call) => call.emit('error', { code: status.UNIMPLEMENTED, details: 'no digests here' }),
};

let ann: IdentityKeys;
let ben: IdentityKeys;
let eve: IdentityKeys;
beforeAll(async () => {
  [ann, ben, eve] = [await person(1), await person(2), await person(3)];
});

const open: Session[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((session) => session.close()));
});

type Introducing = Pick<PeerServer, 'introduce' | 'introduceProof'>;

/** The responder's session with an initiator that uses these handlers. */
async function responderOf(handlers: Partial<Introducing>): Promise<Session> {
  const sockets = await connectedSockets();
  const keys = agreedKeys();
  const { signal } = new AbortController();
  const peerService = { ...NO_CALLS, ...handlers };
  const initiator = openSession(sockets[0], keys[0], 'initiator', { peerService, signal });
  const responder = openSession(sockets[1], keys[1], 'responder', { peerService: NO_CALLS, signal });
  open.push(initiator, responder);
  return responder;
}

type Result = PublicKeys | undefined | KeibiError;
const codeOf = (result: Result) =>
  result instanceof KeibiError ? result.code : result === undefined ? 'nobody' : 'ok';

/** Ann, the responder, and Ben introduce themselves; `alter` changes the handlers between them. */
async function introduced(alter: (handlers: Introducing) => Introducing = (handlers) => handlers, as = { ann, ben }) {
  const responderId = new Uint8Array(16).fill(0x5e);
  const introduction = new Introduction({ sessionId: responderId, self: as.ben });
  const session = await responderOf(alter(introduction));
  const asKeibiError = (reason: unknown): KeibiError => {
    if (reason instanceof KeibiError) return reason;
    throw reason;
  };
  const responder: Result = await introduce(session.client, { sessionId: responderId, self: as.ann }).catch(
    asKeibiError,
  );
  // When the responder stops first, the initiator's promise stays pending.
  const nothing = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
  const initiator = await Promise.race([introduction.done.catch(asKeibiError), nothing]);
  return { responder, initiator, introduction };
}

type AnyHandler = handleUnaryCall<object, object>;

/** Changes bytes of one message in transit. */
function changing(where: string, change: (bytes: Uint8Array) => Uint8Array): (handlers: Introducing) => Introducing {
  const [call, direction, field] = where.split('.') as [keyof Introducing, 'request' | 'reply', string];
  const changed = <T extends object>(message: T): T => ({
    ...message,
    [field]: change((message as Record<string, Uint8Array>)[field] as Uint8Array),
  });
  // The two calls have different message types; each message goes to its own handler.
  const between =
    (handler: AnyHandler): AnyHandler =>
    (incoming, reply) =>
      direction === 'request'
        ? handler({ ...incoming, request: changed(incoming.request) } as typeof incoming, reply)
        : handler(incoming, (error, answer) => reply(error, answer && changed(answer)));
  return (handlers) => ({
    ...handlers,
    introduce: handlers.introduce,
    introduceProof: handlers.introduceProof,
    [call]: between(handlers[call] as AnyHandler),
  });
}

describe('an introduction', () => {
  it('gives each side the keys of the other', async () => {
    const { responder, initiator, introduction } = await introduced();
    expect(responder).toEqual(publicKeys(ben));
    expect(initiator).toEqual(publicKeys(ann));
    expect(introduction.asked).toBe(true);
  });

  it('reveals nothing about a side that prefers to stay unknown', async () => {
    const session = await responderOf({});
    expect(await introduce(session.client, { sessionId: new Uint8Array(16), self: ann })).toBeUndefined();
  });

  it.each([
    ['the X25519 secret', () => ({ ...eve, kem: ann.kem })],
    ['the ML-KEM secret', () => ({ ...eve, x25519: ann.x25519 })],
  ])('refuses the keys of another peer from a sender that has only %s', async (_, secrets) => {
    const { x25519, kem } = secrets();
    const pretending = {
      ...ann,
      x25519: { ...x25519, public: ann.x25519.public },
      kem: { ...kem, publicKey: ann.kem.publicKey },
    };
    const { responder, initiator } = await introduced(undefined, { ann: pretending, ben });
    expect([codeOf(responder), codeOf(initiator)]).toEqual(['HANDSHAKE_TAMPERED', 'HANDSHAKE_TAMPERED']);
  });

  it('is invalid in another session', async () => {
    const introduction = new Introduction({ sessionId: new Uint8Array(16).fill(1), self: ben });
    const session = await responderOf(introduction);
    const introducing = introduce(session.client, { sessionId: new Uint8Array(16).fill(2), self: ann });
    await expect(introducing).rejects.toMatchObject({ code: 'HANDSHAKE_TAMPERED', detail: { remote: true } });
    await expect(introduction.done).rejects.toMatchObject({ code: 'HANDSHAKE_TAMPERED' });
  });

  it('happens once, in its order', async () => {
    const introduction = new Introduction({ sessionId: new Uint8Array(16), self: ben });
    const { client } = await responderOf(introduction);
    const proof = { kemCiphertext: new Uint8Array(1568), proof: new Uint8Array(32) };
    const refused = await new Promise((resolve) => client.introduceProof(proof, (error) => resolve(error?.details)));
    expect(refused).toBe('HANDSHAKE_MALFORMED');
    await introduce(client, { sessionId: new Uint8Array(16), self: ann }).catch(() => {});
    await expect(introduce(client, { sessionId: new Uint8Array(16), self: ann })).rejects.toMatchObject({
      code: 'HANDSHAKE_MALFORMED',
    });
  });
});

describe('an introduction with one field altered', () => {
  const fields = [
    'introduce.request.x25519',
    'introduce.request.kemKey',
    'introduce.reply.x25519',
    'introduce.reply.kemKey',
    'introduce.reply.kemCiphertext',
    'introduceProof.request.kemCiphertext',
    'introduceProof.request.proof',
    'introduceProof.reply.proof',
  ];
  const flipped = (at: number) => (bytes: Uint8Array) =>
    bytes.map((byte, i) => (i === (at + bytes.length) % bytes.length ? byte ^ 0x80 : byte));
  const changes: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ['its first byte', flipped(0)],
    ['its last byte', flipped(-1)],
    ['a byte less', (bytes) => bytes.subarray(1)],
    ['a byte more', (bytes) => Uint8Array.of(...bytes, 0)],
    ['all bytes zero', (bytes) => new Uint8Array(bytes.length)],
  ];

  it.each(fields)('ends by name for both, and neither side accepts keys: %s', async (where) => {
    for (const [what, change] of changes) {
      const { responder, initiator } = await introduced(changing(where, change));
      expect(codeOf(responder), what).toMatch(/^HANDSHAKE_(TAMPERED|MALFORMED)$/);
      // Once the initiator has sent its last message, it has met the responder.
      const last = where === 'introduceProof.reply.proof';
      expect(codeOf(initiator), what).toMatch(last ? /^ok$/ : /^(nobody|HANDSHAKE_(TAMPERED|MALFORMED))$/);
    }
  });
});
