// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import {
  ALL_SUITES,
  type Candidate,
  CONTROL_PREAMBLE,
  KeibiError,
  type MessagePipe,
  parseCode,
} from '@keibidrop/protocol';
import {
  CandidateExchange,
  handshakeAsInitiator,
  handshakeAsResponder,
  type Keys,
  meetAgainAsGuest,
  type ReturnSecret,
} from '@keibidrop/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MeetingHost } from '../src/meeting/meeting-host.ts';
import { Receivers, type ServingSession } from '../src/meeting/receivers.ts';
import { MailboxInMemory } from './mailbox-in-memory.ts';

// Only the peer of a lost session may resume it, by a secret that only the two of them know.

const ANNOUNCED: Candidate = { transport: 'direct', host: '192.0.2.1', port: 26431 };
const { signal } = new AbortController();
const OFFER = { suites: ALL_SUITES, hardware: true, signal };

async function connected(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dialled = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [dialled, accepted];
}

/** Both sides' keys of a handshake with an attempt and its secret, `known` by the responder. */
async function shakeHands(
  attempt: Uint8Array,
  auth: Uint8Array,
  known: (attempt: Uint8Array) => Uint8Array | undefined,
) {
  const [ours, theirs] = await connected();
  const responding = (async () => {
    await once(theirs, 'readable');
    theirs.read(CONTROL_PREAMBLE.length);
    return handshakeAsResponder(theirs, { ...OFFER, authOf: known });
  })();
  const settled = await Promise.allSettled([handshakeAsInitiator(ours, { ...OFFER, attempt, auth }), responding]);
  for (const socket of [ours, theirs]) socket.destroy();
  return settled;
}

async function firstSession(): Promise<[Keys, Keys]> {
  const [attempt, auth] = [new Uint8Array(16).fill(1), new Uint8Array(32).fill(2)];
  const [ours, theirs] = await shakeHands(attempt, auth, () => auth);
  if (ours?.status !== 'fulfilled' || theirs?.status !== 'fulfilled') throw new Error('the handshake failed');
  return [ours.value, theirs.value];
}

const session = (): ServingSession & { replacements: number } => ({
  replacements: 0,
  async replace() {
    this.replacements++;
  },
});

let receivers: Receivers;
beforeEach(() => {
  receivers = new Receivers();
});
afterEach(() => receivers.close());

describe('a return', () => {
  it('is agreed on by both sides of a session, and differs between sessions', async () => {
    const [ours, theirs] = await firstSession();
    const [others] = await firstSession();
    expect(ours.returning).toEqual(theirs.returning);
    expect(others.returning.attempt).not.toEqual(ours.returning.attempt);
    expect(others.returning.auth).not.toEqual(ours.returning.auth);
  });

  it('needs the secret in its handshake; an overheard attempt is not enough', async () => {
    const [ours, theirs] = await firstSession();
    receivers.add(session(), theirs.returning, 1);
    const known = (attempt: Uint8Array) => receivers.secretOf(attempt)?.auth;
    const [thief] = await shakeHands(ours.returning.attempt, new Uint8Array(32), known);
    expect(thief).toMatchObject({ reason: { code: 'HANDSHAKE_TAMPERED' } });
    const [stranger] = await shakeHands(new Uint8Array(16), ours.returning.auth, known);
    expect(stranger).toMatchObject({ reason: { code: 'HANDSHAKE_MALFORMED', detail: { alert: 'unknown-attempt' } } });
    const [peer, self] = await shakeHands(ours.returning.attempt, ours.returning.auth, known);
    expect([peer?.status, self?.status]).toEqual(['fulfilled', 'fulfilled']);
  });
});

describe('the receivers of a send', () => {
  const secret = async () => (await firstSession())[1].returning;

  it('take one back under its number, and replace a session that still counts as alive', async () => {
    const [lost, next] = [await secret(), await secret()];
    const [before, after] = [session(), session()];
    const receiver = receivers.add(before, lost, 1);
    expect(await receivers.takeBack(lost.attempt, after, next)).toBe(receiver);
    expect([receiver.number, before.replacements]).toEqual([1, 1]);
    expect([receivers.isServing(receiver, before), receivers.isServing(receiver, after)]).toEqual([false, true]);
    receivers.leave(receiver);
    expect([receivers.served, receivers.size]).toEqual([0, 1]);
    await receivers.takeBack(next.attempt, session(), await secret());
    expect([receivers.served, receivers.size, before.replacements, after.replacements]).toEqual([1, 1, 1, 0]);
  });

  it('know an old secret until its receiver has spoken under the newer keys', async () => {
    const [lost, next] = [await secret(), await secret()];
    const receiver = receivers.add(session(), lost, 1);
    await receivers.takeBack(lost.attempt, session(), next);
    expect(receivers.secretOf(lost.attempt)).toBeDefined();
    receivers.prove(receiver);
    expect(receivers.secretOf(lost.attempt)).toBeUndefined();
    expect(receivers.secretOf(next.attempt)?.auth).toEqual(next.auth);
  });

  it('wipe and forget the secrets of a served receiver', async () => {
    const lost = await secret();
    const receiver = receivers.add(session(), lost, 1);
    const kept = receivers.secretOf(lost.attempt);
    expect(kept?.auth).toEqual(lost.auth);
    receivers.forget(receiver);
    expect(kept?.auth).toEqual(new Uint8Array(32));
    expect(receivers.secretOf(lost.attempt)).toBeUndefined();
    expect(await receivers.takeBack(lost.attempt, session(), lost)).toBeUndefined();
  });

  it('give the place of the one absent longest to a present one', async () => {
    const secrets = [await secret(), await secret(), await secret()] as const;
    const [first, second] = [receivers.add(session(), secrets[0], 2), receivers.add(session(), secrets[1], 2)];
    receivers.leave(second);
    receivers.leave(first);
    receivers.add(session(), secrets[2], 2);
    expect(secrets.map(({ attempt }) => receivers.secretOf(attempt) !== undefined)).toEqual([true, false, true]);
  });
});

describe('a meeting without a code', () => {
  let mailbox: MailboxInMemory;
  let desk: MeetingHost;
  let lost: ReturnSecret;
  beforeEach(async () => {
    lost = (await firstSession())[0].returning;
    receivers.add(session(), lost, 1);
    mailbox = new MailboxInMemory();
    desk = new MeetingHost({
      code: parseCode('7-guitar-pencil'),
      candidates: () => [ANNOUNCED],
      hasRoom: () => false,
      returnSecretOf: (attempt) => receivers.secretOf(attempt),
      onWrongCode: () => {
        throw new KeibiError('INTERNAL');
      },
      onExhausted: () => {},
      signal,
    });
    void desk.serve(mailbox);
  });
  afterEach(() => desk.close());

  async function announced(pipe: MessagePipe, secret: ReturnSecret) {
    const meeting = await meetAgainAsGuest(pipe, secret, { signal });
    const exchange = new CandidateExchange(pipe, meeting, 'guest');
    try {
      return await exchange.receive({ signal });
    } finally {
      exchange.close();
    }
  }

  it('sends the current addresses to the receiver of a lost session, even if new ones are refused', async () => {
    expect(await announced(mailbox.join(), lost)).toEqual([ANNOUNCED]);
    expect(await announced(mailbox.join(), lost)).toEqual([ANNOUNCED]);
  });

  it('hides them from a peer that knows only the attempt', async () => {
    const thief = lost.copy();
    thief.wipe();
    await expect(announced(mailbox.join(), thief)).rejects.toMatchObject({ code: 'FRAME_AUTH_FAILED' });
  });

  it('refuses a peer whose session it does not know', async () => {
    const stranger = (await firstSession())[0].returning;
    await expect(announced(mailbox.join(), stranger)).rejects.toMatchObject({ code: 'RENDEZVOUS_NOT_FOUND' });
  });

  it('seals with other keys each time, even if a server replays messages', async () => {
    const said: string[][] = [[], []];
    for (const bodies of said) {
      const pipe = mailbox.join();
      const recording: MessagePipe = {
        send: (body) => pipe.send(body),
        receive: async (options) => {
          const body = await pipe.receive(options);
          bodies.push(Buffer.from(body).toString('hex'));
          return body;
        },
        close: () => pipe.close(),
      };
      await announced(recording, lost);
    }
    expect(said.map((bodies) => bodies.length)).toEqual([2, 2]);
    expect(new Set(said.flat()).size).toBe(4);
  });
});
