// SPDX-License-Identifier: MPL-2.0
import { getEventListeners } from 'node:events';
import { KeibiError } from '@keibidrop/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  acquainted,
  announced,
  codesOf,
  meetContacts,
  met,
  type Party,
  person,
  publicKeys,
  signal,
} from '../../test/contact-meetings.ts';
import { type AlterBody, messagePipes, type Sender } from '../../test/message-pipes.ts';
import type { IdentityKeys } from '../keys/identity-keys.ts';
import { PairKey } from '../keys/pair-key.ts';
import { meetContactAsGuest, meetContactAsOwner } from './contact-meeting.ts';

let ann: IdentityKeys;
let ben: IdentityKeys;
let eve: IdentityKeys;
let known: Record<Sender, Party>;
let first: Record<Sender, Party>;
beforeAll(async () => {
  [ann, ben, eve] = [await person(1), await person(2), await person(3)];
  known = await acquainted(ann, ben);
  first = await announced(ann, ben);
});

/** Records every body that the mailbox forwards. */
function recording(): { bodies: { from: Sender; body: Uint8Array }[]; alter: AlterBody } {
  const bodies: { from: Sender; body: Uint8Array }[] = [];
  const alter: AlterBody = (body, from) => {
    bodies.push({ from, body: body.slice() });
    return body;
  };
  return { bodies, alter };
}

describe('two contacts who meet', () => {
  it.each(['known by keys', 'known by fingerprint'])('can talk in both directions: %s', async (how) => {
    const results = await meetContacts(how === 'known by keys' ? known : first);
    const [guest, owner] = [met(results.guest), met(results.owner)];
    expect(guest.keys).toEqual(publicKeys(ben));
    expect(owner.keys).toEqual(publicKeys(ann));
    await guest.conversation.send({ kind: 'ping' });
    await owner.conversation.send({ kind: 'bye', reason: 'leaving' });
    expect(await owner.conversation.receive({ signal })).toEqual({ kind: 'ping' });
    expect(await guest.conversation.receive({ signal })).toEqual({ kind: 'bye', reason: 'leaving' });
  });

  it('send the messages that PROTOCOL 10.2 draws', async () => {
    const { bodies, alter } = recording();
    await meetContacts(first, alter);
    expect(bodies.map(({ from, body }) => `${from} ${body[0]} ${body.length}`)).toEqual([
      'guest 9 1666',
      'owner 9 1666',
      'guest 10 1634',
      'owner 11 1634',
      'owner 6 34',
      'guest 6 34',
    ]);
  });

  it('hide their identities from others, and never send the same bytes twice', async () => {
    const { bodies, alter } = recording();
    await meetContacts(first, alter);
    await meetContacts(first, alter);
    const hex = bodies.map(({ body }) => Buffer.from(body).toString('hex'));
    expect(new Set(hex).size).toBe(12);
    for (const { fingerprint, x25519, kem } of [ann, ben]) {
      for (const trace of [fingerprint, x25519.public, kem.publicKey.slice(0, 16), kem.publicKey.slice(-16)]) {
        expect(hex.some((body) => body.includes(Buffer.from(trace).toString('hex')))).toBe(false);
      }
    }
  });

  it('leave no listener and no open pipe when the caller aborts', async () => {
    for (const meet of [meetContactAsGuest, meetContactAsOwner]) {
      const { guest, owner } = messagePipes();
      const controller = new AbortController();
      const meeting = meet(guest, { ...known.guest, signal: controller.signal });
      if (meet === meetContactAsGuest) await owner.receive({ signal });
      controller.abort(new Error('enough'));
      await expect(meeting).rejects.toThrow('enough');
      expect(guest.closed).toBe(true);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
  });

  it('succeeds when the caller has already taken the first body', async () => {
    const { guest, owner } = messagePipes();
    const asGuest = meetContactAsGuest(guest, { ...first.guest, signal });
    const body = await owner.receive({ signal });
    await Promise.all([asGuest, meetContactAsOwner(owner, { ...first.owner, signal, first: body })]);
  });
});

describe('a contact that is blocked', () => {
  it.each(['known by keys', 'known by fingerprint'])('learns of the block, and no one else does: %s', async (how) => {
    const { bodies, alter } = recording();
    const results = await meetContacts(how === 'known by keys' ? known : first, alter, { blocked: true });
    expect(codesOf(results)).toEqual({ guest: 'CONTACT_BLOCKED', owner: 'CONTACT_BLOCKED' });
    expect(results.guest).toMatchObject({ detail: { remote: true } });
    expect(results.owner).not.toHaveProperty('detail.remote');
    expect(bodies.at(-1)).toMatchObject({ from: 'owner' });
  });

  it('accepts a block from the contact only', async () => {
    const pair = await PairKey.of(ben, publicKeys(ann));
    const owner = { self: { ...ben, kem: eve.kem }, pair };
    expect(codesOf(await meetContacts({ ...known, owner }, undefined, { blocked: true })).guest).toBe(
      'HANDSHAKE_FINGERPRINT_MISMATCH',
    );
  });
});

describe('an impostor', () => {
  const sides: Sender[] = ['guest', 'owner'];
  const honest = (side: Sender): Sender => (side === 'guest' ? 'owner' : 'guest');
  const self = (side: Sender) => (side === 'guest' ? ann : ben);

  it.each(sides)('is refused with only the X25519 secret of the contact: as %s', async (side) => {
    const impostor = { ...known[side], self: { ...self(side), kem: eve.kem } };
    const results = await meetContacts({ ...known, [side]: impostor });
    // Our own impostor notices that it cannot open the owner's body, and leaves.
    const refusal = side === 'guest' ? 'SESSION_LOST' : 'HANDSHAKE_FINGERPRINT_MISMATCH';
    expect(codesOf(results)[honest(side)]).toBe(refusal);
  });

  it.each(sides)('is refused with only the ML-KEM secret of the contact: as %s', async (side) => {
    const stolen = { ...self(side), x25519: eve.x25519 };
    const impostor = { self: stolen, pair: await PairKey.of(stolen, publicKeys(self(honest(side)))) };
    const results = await meetContacts({ ...known, [side]: impostor });
    expect(codesOf(results)).toMatchObject({
      [honest(side)]: side === 'guest' ? 'HANDSHAKE_TAMPERED' : 'SESSION_LOST',
    });
    expect(codesOf(results)[side]).not.toBe('ok');
  });

  it.each(sides)('is refused at first contact, though it knows both fingerprints: as %s', async (side) => {
    const impostor = { ...first[side], self: eve };
    const results = await meetContacts({ ...first, [side]: impostor });
    expect(codesOf(results)[honest(side)]).toBe('HANDSHAKE_FINGERPRINT_MISMATCH');
  });

  it.each(['known by keys', 'known by fingerprint'])(
    'cannot become the contact by replaying its messages: %s',
    async (how) => {
      const parties = how === 'known by keys' ? known : first;
      const { bodies, alter } = recording();
      await meetContacts(parties, alter);
      const saidBy = (sender: Sender) => bodies.filter(({ from }) => from === sender).map(({ body }) => body);
      const toOwner = messagePipes();
      const asOwner = meetContactAsOwner(toOwner.owner, { ...parties.owner, signal });
      for (const body of saidBy('guest')) await toOwner.guest.send(body);
      await expect(asOwner).rejects.toMatchObject({ code: 'HANDSHAKE_FINGERPRINT_MISMATCH' });
      const toGuest = messagePipes();
      const asGuest = meetContactAsGuest(toGuest.guest, { ...parties.guest, signal });
      for (const body of saidBy('owner')) await toGuest.owner.send(body);
      await expect(asGuest).rejects.toMatchObject({ code: 'HANDSHAKE_TAMPERED' });
    },
  );

  it('cannot replay a guest’s bodies into that guest’s own mailbox or back to it', async () => {
    const other = { guest: known.guest, owner: { self: ann, pair: known.guest.pair } };
    expect(codesOf(await meetContacts(other)).owner).toBe('HANDSHAKE_TAMPERED');
    const { guest, owner } = messagePipes();
    const meeting = meetContactAsGuest(guest, { ...known.guest, signal });
    await owner.send(await owner.receive({ signal }));
    await expect(meeting).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
  });

  it('cannot be a contact in the mailbox that is kept for another', async () => {
    const forEve = { self: ben, pair: await PairKey.of(ben, publicKeys(eve)) };
    expect(codesOf(await meetContacts({ ...known, owner: forEve })).owner).toBe('HANDSHAKE_TAMPERED');
  });
});

describe('a meeting of contacts with one altered byte', () => {
  const everyByte = process.env.KD_TEST_EVERY_BYTE === '1';
  const opening = (plaintext: number) => ({
    kind: 1,
    version: 1,
    nonce: 32,
    length: 4,
    counter: 12,
    sealed: plaintext + 16,
  });
  const sealed = { kind: 1, proof: 4 + 12 + 17 };
  const layouts: [string, Sender, number, Record<string, number>][] = [
    ['KEYS of the guest', 'guest', 0, opening(1600)],
    ['KEYS of the owner', 'owner', 0, opening(1600)],
    ['CONTACT', 'guest', 1, opening(1568)],
    ['CONTACT-REPLY', 'owner', 1, opening(1568)],
    ['SEALED ready of the owner', 'owner', 2, sealed],
    ['SEALED ready of the guest', 'guest', 2, sealed],
  ];
  const expected: Record<string, string> = {
    // A SEALED becomes a RETURN, whose version would be 0.
    kind: 'HANDSHAKE_MALFORMED|PEER_OLDER',
    version: 'PEER_NEWER',
    nonce: 'HANDSHAKE_TAMPERED',
    length: 'HANDSHAKE_TAMPERED',
    counter: 'HANDSHAKE_TAMPERED',
    sealed: 'HANDSHAKE_TAMPERED',
    proof: 'HANDSHAKE_FINGERPRINT_MISMATCH',
  };

  /** Positions to test: the first and last byte of a long field and every 97th (all with KD_TEST_EVERY_BYTE=1). */
  function positions(layout: Record<string, number>): { field: string; at: number }[] {
    let start = 0;
    return Object.entries(layout).flatMap(([field, length]) => {
      const begin = start;
      start += length;
      const step = length > 100 && !everyByte ? 97 : 1;
      const offsets = Array.from({ length: Math.ceil(length / step) }, (_, i) => begin + i * step);
      return [...new Set([...offsets, start - 1])].map((at) => ({ field, at }));
    });
  }

  it.each(layouts)('is refused by name, at every position of %s', async (_, from, index, layout) => {
    for (const { field, at } of positions(layout)) {
      const results = await meetContacts(first, (body, sender, number) => {
        if (sender === from && number === index) body[at] = (body[at] as number) ^ (1 << (at % 8));
        return body;
      });
      const codes = codesOf(results);
      const where = `${field} at ${at}`;
      expect(codes[from === 'guest' ? 'owner' : 'guest'], where).toMatch(new RegExp(`^(${expected[field]})$`));
      // A side succeeds once it has sent its last body; only the other side sees that the body was altered.
      if (from === 'guest' && index === 2) expect(codes.guest, where).toBe('ok');
      else expect(codes[from], where).toBe('SESSION_LOST');
    }
  });

  it.each(layouts)('is refused by name when %s is too short or too long', async (_, from, index) => {
    for (const change of [
      (body: Uint8Array) => body.subarray(0, -1),
      (body: Uint8Array) => Uint8Array.of(...body, 0),
    ]) {
      const results = await meetContacts(first, (body, sender, number) =>
        sender === from && number === index ? change(body) : body,
      );
      const refused = results[from === 'guest' ? 'owner' : 'guest'];
      expect(refused).toBeInstanceOf(KeibiError);
      expect(codesOf(results)[from === 'guest' ? 'owner' : 'guest']).toMatch(
        /^HANDSHAKE_(MALFORMED|FINGERPRINT_MISMATCH)$/,
      );
    }
  });
});
