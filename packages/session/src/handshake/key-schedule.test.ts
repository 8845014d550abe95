// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import { ALL_SUITES, MAX_LANE_NUMBERS, MAX_LANES } from '@keibidrop/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSodium, type Sodium } from '../keys/sodium.ts';
import { returnSealKey } from '../meeting/return-meeting.ts';
import { ReturnSecret } from '../meeting/return-secret.ts';
import {
  controlKey,
  initiatorConfirm,
  laneKey,
  relayLaneTokens,
  responderConfirm,
  rootKey,
  sessionKeys,
  transcriptOf,
} from './key-schedule.ts';

const vectors = JSON.parse(
  readFileSync(new URL('../../../protocol/test/vectors/key-schedule.json', import.meta.url), 'utf8'),
);
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');
const root = new Uint8Array(64).fill(0x11);
const roles = ['initiator', 'responder'] as const;

let sodium: Sodium;
beforeAll(async () => {
  sodium = await loadSodium();
});

describe('the key schedule', () => {
  it('gives each direction of the control connection its own key in each suite', () => {
    const keys = ALL_SUITES.flatMap((suite) => roles.map((writer) => hex(controlKey(sodium, root, suite, writer))));
    expect(new Set(keys).size).toBe(4);
  });

  it('gives each lane, direction and suite its own key', () => {
    const secret = sessionKeys(sodium, root, 'aes-256-gcm', 'initiator').laneSecret;
    const keys = ALL_SUITES.flatMap((suite) =>
      roles.flatMap((writer) =>
        Array.from({ length: MAX_LANES }, (_, lane) => hex(laneKey(sodium, secret, suite, writer, lane))),
      ),
    );
    expect(new Set(keys).size).toBe(2 * 2 * MAX_LANES);
  });

  it('gives each lane its own token at a relay, and never a key', async () => {
    const secret = sessionKeys(sodium, root, 'aes-256-gcm', 'initiator').laneSecret;
    const deriving = relayLaneTokens(secret);
    const key = hex(laneKey(sodium, secret, 'aes-256-gcm', 'responder', 0));
    secret.fill(0);
    const tokens = (await deriving).map(hex);
    expect(new Set([...tokens, key]).size).toBe(MAX_LANE_NUMBERS + 1);
    expect(tokens).not.toEqual((await relayLaneTokens(secret)).map(hex));
  });

  it('never derives one secret for two purposes', async () => {
    const keys = sessionKeys(sodium, root, 'aes-256-gcm', 'responder');
    const { writeKey, readKey, laneSecret, sessionId, returning, guestSecret } = keys;
    const { auth, seal } = returning;
    const guest = await ReturnSecret.ofGuest(guestSecret);
    const guests = [guestSecret, guest.auth, guest.seal];
    const nonce = new Uint8Array(16);
    const seals = (['guest', 'owner'] as const).map((writer) => returnSealKey(sodium, seal, writer, nonce, nonce));
    const transcript = new Uint8Array(64).fill(3);
    const confirm2 = responderConfirm(sodium, root, transcript);
    const confirm3 = initiatorConfirm(sodium, root, transcript, confirm2);
    const lane0 = laneKey(sodium, laneSecret, 'aes-256-gcm', 'responder', 0);
    const all = [writeKey, readKey, laneSecret, lane0, confirm2, confirm3, auth, seal, ...seals, ...guests].map(hex);
    expect(new Set(all).size).toBe(all.length);
    for (const known of [sessionId, returning.attempt, guest.attempt]) {
      expect(all.some((secret) => secret.startsWith(hex(known)))).toBe(false);
    }
  });

  it('pairs the write keys of one side with the read keys of the other', () => {
    const initiator = sessionKeys(sodium, root, 'chacha20-poly1305', 'initiator');
    const responder = sessionKeys(sodium, root, 'chacha20-poly1305', 'responder');
    expect(initiator.writeKey).toEqual(responder.readKey);
    expect(initiator.readKey).toEqual(responder.writeKey);
    expect(initiator.laneSecret).toEqual(responder.laneSecret);
    expect(initiator.sessionId).toEqual(responder.sessionId);
  });

  it.each(['transcript', 'x25519', 'kem', 'auth'] as const)('depends on every bit of the %s', (part) => {
    const parts = {
      transcript: new Uint8Array(64).fill(1),
      x25519: new Uint8Array(32).fill(2),
      kem: new Uint8Array(32).fill(3),
      auth: new Uint8Array(32).fill(4),
    };
    const roots = new Set([hex(rootKey(sodium, parts.transcript, parts))]);
    for (let bit = 0; bit < parts[part].length * 8; bit++) {
      const altered = parts[part].slice();
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7));
      const changed = { ...parts, [part]: altered };
      roots.add(hex(rootKey(sodium, changed.transcript, changed)));
    }
    expect(roots.size).toBe(1 + parts[part].length * 8);
  });

  it('zeroes every secret on wipe and keeps the public values', () => {
    const keys = sessionKeys(sodium, root, 'aes-256-gcm', 'initiator');
    const sessionId = hex(keys.sessionId);
    const { returning } = keys;
    const kept = returning.copy();
    keys.wipe();
    for (const secret of [
      keys.writeKey,
      keys.readKey,
      keys.laneSecret,
      keys.guestSecret,
      returning.auth,
      returning.seal,
    ]) {
      expect(hex(secret)).toBe('00'.repeat(32));
    }
    expect(hex(keys.sessionId)).toBe(sessionId);
    expect(hex(kept.auth)).not.toBe('00'.repeat(32));
    kept.wipe();
    expect([kept.auth, kept.seal].map(hex)).toEqual(['00'.repeat(32), '00'.repeat(32)]);
  });

  it('matches the vectors from the first message to both confirms', () => {
    const { handshake } = vectors;
    const framed = (message: Uint8Array) => Uint8Array.of(0, 0, message.length >> 8, message.length & 0xff, ...message);
    const confirmless = new Uint8Array([...bytes(handshake.m2WithoutConfirm), ...new Uint8Array(32)]);
    const transcript = transcriptOf(sodium, framed(bytes(handshake.m1)), framed(confirmless));
    expect(hex(transcript)).toBe(handshake.transcript);

    const secrets = { x25519: bytes(handshake.x25519), kem: bytes(handshake.kem), auth: bytes(handshake.auth) };
    const rootOfVectors = rootKey(sodium, transcript, secrets);
    expect(hex(rootOfVectors)).toBe(handshake.root);
    const confirm2 = responderConfirm(sodium, rootOfVectors, transcript);
    expect(hex(confirm2)).toBe(handshake.responderConfirm);
    expect(hex(initiatorConfirm(sodium, rootOfVectors, transcript, confirm2))).toBe(handshake.initiatorConfirm);
  });

  it('derives the keys of the vectors that native reads too', async () => {
    const keys = sessionKeys(sodium, bytes(vectors.root), 'aes-256-gcm', 'initiator');
    expect([hex(keys.laneSecret), hex(keys.sessionId)]).toEqual([vectors.laneSecret, vectors.sessionId]);
    const { attempt, auth, seal, guestNonce, ownerNonce, sealGuest, sealOwner } = vectors.returning;
    const { returning } = keys;
    expect([returning.attempt, returning.auth, returning.seal].map(hex)).toEqual([attempt, auth, seal]);
    const sealKey = (writer: 'guest' | 'owner') =>
      hex(returnSealKey(sodium, returning.seal, writer, bytes(guestNonce), bytes(ownerNonce)));
    expect([sealKey('guest'), sealKey('owner')]).toEqual([sealGuest, sealOwner]);
    expect(hex(keys.guestSecret)).toBe(vectors.guest.secret);
    const guest = await ReturnSecret.ofGuest(keys.guestSecret);
    const { attempt: guestAttempt, auth: guestAuth, seal: guestSeal } = vectors.guest;
    expect([guest.attempt, guest.auth, guest.seal].map(hex)).toEqual([guestAttempt, guestAuth, guestSeal]);
    for (const { suite, writer, control } of vectors.controlKeys) {
      expect(hex(controlKey(sodium, bytes(vectors.root), suite, writer))).toBe(control);
    }
    for (const { lane, token } of vectors.relayLaneTokens) {
      expect(hex((await relayLaneTokens(bytes(vectors.laneSecret)))[lane] as Uint8Array)).toBe(token);
    }
    for (const { suite, writer, lane, key } of vectors.laneKeys) {
      expect(hex(laneKey(sodium, bytes(vectors.laneSecret), suite, writer, lane))).toBe(key);
    }
  });
});
