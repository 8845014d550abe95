// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import { ALL_SUITES, CONTROL_PREAMBLE, KeibiError } from '@keibidrop/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Alter, relayHandshake } from '../../test/handshake-relay.ts';
import { asIs, attempt, auth, codesOf, type Outcome, recorded, shakeHands, willing } from '../../test/handshake-run.ts';
import { TcpPairs } from '../../test/tcp-pairs.ts';
import { loadSodium } from '../keys/sodium.ts';
import { prepareHandshake, warmUpHandshakes } from './ephemeral.ts';
import { handshakeAsInitiator, handshakeAsResponder } from './handshake.ts';
import { transcriptOf } from './key-schedule.ts';

let pairs: TcpPairs;
beforeAll(async () => {
  pairs = await TcpPairs.listen();
});
afterAll(() => pairs.close());

function close({ initiatorSocket, responderSocket }: Outcome): void {
  initiatorSocket.destroy();
  responderSocket.destroy();
}

describe('an undisturbed handshake', () => {
  it('gives both sides the same keys', async () => {
    const outcome = await shakeHands(pairs, asIs);
    const { initiator, responder } = outcome;
    if (initiator instanceof KeibiError || responder instanceof KeibiError) throw new Error('refused');
    expect(initiator.writeKey).toEqual(responder.readKey);
    expect(initiator.readKey).toEqual(responder.writeKey);
    expect(initiator.laneSecret).toEqual(responder.laneSecret);
    expect(initiator.sessionId).toEqual(responder.sessionId);
    expect(initiator.writeKey).not.toEqual(initiator.readKey);
    expect(responder.attempt).toEqual(attempt);
    close(outcome);
  });

  it('never gives the same keys twice', async () => {
    const seen = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const outcome = await shakeHands(pairs, asIs);
      if (outcome.initiator instanceof KeibiError) throw outcome.initiator;
      seen.add(Buffer.from(outcome.initiator.writeKey).toString('hex'));
      seen.add(Buffer.from(outcome.initiator.sessionId).toString('hex'));
      close(outcome);
    }
    expect(seen.size).toBe(6);
  });

  it.each([
    { hardware: [true, true], suites: [ALL_SUITES, ALL_SUITES], suite: 'aes-256-gcm' },
    { hardware: [true, false], suites: [ALL_SUITES, ALL_SUITES], suite: 'chacha20-poly1305' },
    { hardware: [false, true], suites: [ALL_SUITES, ALL_SUITES], suite: 'chacha20-poly1305' },
    { hardware: [false, false], suites: [['aes-256-gcm'], ALL_SUITES], suite: 'aes-256-gcm' },
    { hardware: [true, true], suites: [ALL_SUITES, ['chacha20-poly1305']], suite: 'chacha20-poly1305' },
  ] as const)('agrees on $suite of $suites with hardware $hardware', async ({ hardware, suites, suite }) => {
    const outcome = await shakeHands(pairs, asIs, {
      initiator: { hardware: hardware[0], suites: suites[0] },
      responder: { hardware: hardware[1], suites: suites[1] },
    });
    expect(outcome.initiator).toMatchObject({ suite });
    expect(outcome.responder).toMatchObject({ suite });
    close(outcome);
  });

  it('leaves the bytes after the last message in the stream', async () => {
    let confirm: Uint8Array | undefined;
    const heldBack: Alter = (message, from, index) => {
      if (from === 'responder') return message;
      if (index === 0) return message;
      if (index === 1) confirm = message;
      return index === 1 ? new Uint8Array() : Buffer.concat([confirm as Uint8Array, message]);
    };
    const following = Uint8Array.of(0, 0, 0, 3, 7, 7, 7);
    const [[initiatorSocket, left], [right, responderSocket]] = await Promise.all([pairs.open(), pairs.open()]);
    relayHandshake(left, right, heldBack);
    const responder = handshakeAsResponder(responderSocket, { ...willing, authOf: () => auth });
    await handshakeAsInitiator(initiatorSocket, { ...willing, attempt, auth });
    initiatorSocket.write(following);
    await responder;
    const [piece] = await once(responderSocket, 'data');
    expect(new Uint8Array(piece)).toEqual(following);
    initiatorSocket.destroy();
  });

  it('leaves no listener behind on the stream or the signal', async () => {
    const controller = new AbortController();
    const outcome = await shakeHands(pairs, asIs, {
      initiator: { signal: controller.signal },
      responder: { signal: controller.signal },
    });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    for (const socket of [outcome.initiatorSocket, outcome.responderSocket]) {
      expect([socket.listenerCount('readable'), socket.listenerCount('error')]).toEqual([0, 0]);
      // The remaining listener belongs to TcpPairs, which tracks its sockets.
      expect(socket.listenerCount('close')).toBe(1);
    }
    close(outcome);
  });

  it('zeroes the ephemeral secrets and keeps the caller’s', async () => {
    const prepared = await prepareHandshake('initiator');
    close(await shakeHands(pairs, asIs, { initiator: { prepared: Promise.resolve(prepared) } }));
    expect(prepared.x25519.secret.every((byte) => byte === 0)).toBe(true);
    expect(prepared.kemKeys?.secretKey.every((byte) => byte === 0)).toBe(true);
    expect(auth.every((byte) => byte === 0xa8)).toBe(true);
  });
});

describe('a handshake between peers that do not belong together', () => {
  it('is HANDSHAKE_NO_COMMON_SUITE on both sides', async () => {
    const outcome = await shakeHands(pairs, asIs, {
      initiator: { suites: ['aes-256-gcm'] },
      responder: { suites: ['chacha20-poly1305'] },
    });
    expect(codesOf(outcome)).toEqual({
      initiator: 'HANDSHAKE_NO_COMMON_SUITE',
      responder: 'HANDSHAKE_NO_COMMON_SUITE',
    });
    expect(outcome.initiator).toMatchObject({ detail: { remote: true } });
  });

  it('is HANDSHAKE_MALFORMED for an attempt that is not open', async () => {
    const outcome = await shakeHands(pairs, asIs, { initiator: { attempt: new Uint8Array(16) } });
    expect(codesOf(outcome)).toEqual({ initiator: 'HANDSHAKE_MALFORMED', responder: 'HANDSHAKE_MALFORMED' });
    expect((outcome.initiator as KeibiError).message).toContain('no meeting');
  });

  it('is HANDSHAKE_TAMPERED when the meeting gave them different secrets', async () => {
    const outcome = await shakeHands(pairs, asIs, { initiator: { auth: new Uint8Array(32) } });
    expect(codesOf(outcome)).toEqual({ initiator: 'HANDSHAKE_TAMPERED', responder: 'HANDSHAKE_TAMPERED' });
  });
});

describe('a message of another version', () => {
  it('is answered by alert 5, which names our version, and the connection closes', async () => {
    const [newer, socket] = await pairs.open();
    const heard: Buffer[] = [];
    newer.on('data', (bytes) => heard.push(bytes));
    const shaking = handshakeAsResponder(socket, { ...willing, authOf: () => auth });
    newer.write(Uint8Array.of(0, 0, 9, 0, 2, 1));
    await expect(shaking).rejects.toMatchObject({ code: 'PEER_NEWER' });
    await once(newer, 'end');
    expect(Buffer.concat(heard)).toEqual(Buffer.from([0, 0, 0, 3, 1, 255, 5]));
    newer.destroy();
  });
});

describe('the transcript', () => {
  it('hashes M2 with the length of the whole message, without the confirm', async () => {
    const { initiator, responder } = await recorded(pairs);
    const [m1, m2] = [initiator[0] as Uint8Array, responder[0] as Uint8Array];
    expect([m1, m2].map((message) => Buffer.from(message).readUInt32BE(0))).toEqual([1620, 1636]);
    const sodium = await loadSodium();
    const hash = createHash('sha512').update('KeibiDrop handshake v1').update('KEIBI-C1');
    const expected = hash
      .update(m1)
      .update(m2.subarray(0, m2.length - 32))
      .digest();
    expect(Buffer.from(transcriptOf(sodium, m1, m2))).toEqual(expected);
  });
});

describe('a stalled handshake', () => {
  it.each([
    ['M1', 'initiator', 0],
    ['M2', 'responder', 0],
    ['M3', 'initiator', 1],
  ] as const)('is HANDSHAKE_TIMEOUT for the side that waits for %s', async (_, from, index) => {
    const swallowed: Alter = (message, sender, number) =>
      sender === from && number === index ? new Uint8Array() : message;
    const waiting = from === 'initiator' ? 'responder' : 'initiator';
    const outcome = await shakeHands(pairs, swallowed, { [waiting]: { timeoutMs: 150 } });
    expect(codesOf(outcome)[waiting]).toBe('HANDSHAKE_TIMEOUT');
    close(outcome);
  });

  it('is HANDSHAKE_TIMEOUT when a message arrives byte by byte', async () => {
    const [attacker, socket] = await pairs.open();
    attacker.write(Uint8Array.of(0, 0, 6, 0x54, 1, 1));
    const drops = setInterval(() => attacker.write(Uint8Array.of(0)), 20);
    attacker.on('error', () => clearInterval(drops));
    const shaking = handshakeAsResponder(socket, { ...willing, timeoutMs: 200, authOf: () => auth });
    await expect(shaking).rejects.toMatchObject({ code: 'HANDSHAKE_TIMEOUT' });
    clearInterval(drops);
    attacker.destroy();
  });

  it.each([0, 1, 5, 6, 100, 1623])('is SESSION_LOST when the initiator leaves after %i bytes of M1', async (length) => {
    const { initiator } = await recorded(pairs);
    const [leaving, socket] = await pairs.open();
    leaving.end((initiator[0] as Uint8Array).subarray(0, length));
    const shaking = handshakeAsResponder(socket, { ...willing, authOf: () => auth });
    await expect(shaking).rejects.toMatchObject({ code: 'SESSION_LOST' });
    expect(socket.destroyed).toBe(true);
  });

  it.each([0, 1, 5, 6, 100, 1639])('is SESSION_LOST when the responder leaves after %i bytes of M2', async (length) => {
    const { responder } = await recorded(pairs);
    const [socket, leaving] = await pairs.open();
    leaving.resume().end((responder[0] as Uint8Array).subarray(0, length));
    const shaking = handshakeAsInitiator(socket, { ...willing, attempt, auth });
    await expect(shaking).rejects.toMatchObject({ code: 'SESSION_LOST' });
    expect(socket.destroyed).toBe(true);
  });

  it('is SESSION_LOST over a connection that was reset', async () => {
    const [socket, leaving] = await pairs.open();
    const shaking = handshakeAsInitiator(socket, { ...willing, attempt, auth });
    leaving.resetAndDestroy();
    await expect(shaking).rejects.toMatchObject({ code: 'SESSION_LOST' });
  });

  it('throws the reason of the signal itself and closes the connection', async () => {
    const reason = new KeibiError('CANCELLED');
    const controller = new AbortController();
    const [socket, peer] = await pairs.open();
    const shaking = handshakeAsInitiator(socket, { ...willing, signal: controller.signal, attempt, auth });
    await once(peer, 'data');
    controller.abort(reason);
    await expect(shaking).rejects.toBe(reason);
    expect(socket.destroyed).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('stops before our own proof when another handshake of the meeting has won', async () => {
    const lost = new KeibiError('CANCELLED');
    const beforeConfirm = () => {
      throw lost;
    };
    const outcome = await shakeHands(pairs, asIs, { initiator: { beforeConfirm } });
    expect(outcome.initiator).toBe(lost);
    expect(codesOf(outcome).responder).toBe('SESSION_LOST');
    close(outcome);
  });

  it('does not begin once the signal is aborted', async () => {
    const [socket] = await pairs.open();
    const shaking = handshakeAsInitiator(socket, { ...willing, signal: AbortSignal.abort('stopped'), attempt, auth });
    await expect(shaking).rejects.toBe('stopped');
  });
});

describe('warmUpHandshakes', () => {
  it('does its work once', async () => {
    expect(warmUpHandshakes()).toBe(warmUpHandshakes());
    await warmUpHandshakes();
  });
});

describe('the first bytes of a connection', () => {
  it('are the preamble and M1, in one piece', async () => {
    const [socket, peer] = await pairs.open();
    const shaking = handshakeAsInitiator(socket, { ...willing, attempt, auth });
    const [piece] = await once(peer, 'data');
    expect(piece.subarray(0, 8).equals(CONTROL_PREAMBLE)).toBe(true);
    expect(piece.length).toBe(8 + 4 + 1620);
    peer.destroy();
    await expect(shaking).rejects.toMatchObject({ code: 'SESSION_LOST' });
  });
});
