// SPDX-License-Identifier: MPL-2.0
import { getEventListeners } from 'node:events';
import { encodeMeetingMessage, KeibiError, type MessagePipe, parseCode } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { type AlterBody, messagePipes, type Sender } from '../../test/message-pipes.ts';
import { type Meeting, meetAsGuest, meetAsOwner, refuseGuest } from './meeting.ts';

const signal = new AbortController().signal;
const code = parseCode('7-guitar-pencil');

type Result = Meeting | KeibiError;
const codeOf = (result: Result) => (result instanceof KeibiError ? result.code : 'ok');

async function meet(alter?: AlterBody, codes = { guest: code, owner: code }): Promise<Record<Sender, Result>> {
  const { guest, owner } = messagePipes(alter);
  const [asGuest, asOwner] = await Promise.all([
    meetAsGuest(guest, codes.guest, { signal }).catch(asKeibiError),
    meetAsOwner(owner, codes.owner, { signal }).catch(asKeibiError),
  ]);
  return { guest: asGuest, owner: asOwner };
}

function asKeibiError(error: unknown): KeibiError {
  if (error instanceof KeibiError) return error;
  throw error;
}

function met(result: Result): Meeting {
  if (result instanceof KeibiError) throw result;
  return result;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('a meeting by code', () => {
  it('gives guest and owner the same secrets, all of them different', async () => {
    const results = await meet();
    const guest = met(results.guest);
    const owner = met(results.owner);
    expect(hex(guest.attempt)).toBe(hex(owner.attempt));
    expect(hex(guest.auth)).toBe(hex(owner.auth));
    expect(hex(guest.sealGuest)).toBe(hex(owner.sealGuest));
    expect(hex(guest.sealOwner)).toBe(hex(owner.sealOwner));
    expect(new Set([guest.auth, guest.sealGuest, guest.sealOwner].map(hex)).size).toBe(3);
    expect(guest.attempt.length).toBe(16);
    expect(guest.auth.length).toBe(32);
  });

  it('gives different secrets each time', async () => {
    const auths = new Set<string>();
    for (let i = 0; i < 3; i++) auths.add(hex(met((await meet()).guest).auth));
    expect(auths.size).toBe(3);
  });

  it('sends bodies of the lengths in PROTOCOL 2.2', async () => {
    const bodies: string[] = [];
    await meet((body, from) => {
      bodies.push(`${from} ${body[0]} ${body.length}`);
      return body;
    });
    expect(bodies).toEqual(['guest 1 50', 'owner 2 34', 'guest 3 33', 'owner 4 33']);
  });

  it('zeroes its secrets on wipe', async () => {
    const guest = met((await meet()).guest);
    guest.wipe();
    for (const secret of [guest.auth, guest.sealGuest, guest.sealOwner]) expect(hex(secret)).toBe('00'.repeat(32));
  });
});

describe('a meeting with a wrong code', () => {
  it.each(['7-guitar-pencils', '7-pencil-guitar', '8-guitar-pencil'])(
    'is CODE_WRONG on both sides: %s',
    async (text) => {
      const bodies: string[] = [];
      const noted: AlterBody = (body, from) => {
        bodies.push(`${from} ${hex(body.subarray(0, 2))}`);
        return body;
      };
      const results = await meet(noted, { guest: parseCode(text), owner: code });
      expect(codeOf(results.guest)).toBe('CODE_WRONG');
      expect(codeOf(results.owner)).toBe('CODE_WRONG');
      expect(results.guest).toMatchObject({ detail: { remote: true } });
      // The owner refuses with reason 1 and never sends its tag, so the guest cannot test further guesses offline.
      expect(bodies.at(-1)).toBe('owner 0501');
      expect(bodies.some((body) => body.startsWith('owner 04'))).toBe(false);
    },
  );

  it('reveals nothing to a guest that leaves before it is confirmed', async () => {
    const { guest, owner } = messagePipes();
    const meeting = meetAsOwner(owner, code, { signal });
    const sid = new Uint8Array(16);
    // The share is any valid element: one of the draft's vectors.
    const ya = new Uint8Array(Buffer.from('2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c', 'hex'));
    await guest.send(encodeMeetingMessage({ kind: 'hello', sid, ya }));
    const share = await guest.receive({ signal });
    guest.close();
    await expect(meeting).rejects.toMatchObject({ code: 'SESSION_LOST' });
    expect(share[0]).toBe(2);
    await expect(guest.receive({ signal })).rejects.toMatchObject({ code: 'SESSION_LOST' });
  });

  it.each([
    ['wrong-code', 'CODE_WRONG'],
    ['code-exhausted', 'CODE_EXHAUSTED'],
    ['busy', 'PEER_BUSY'],
    ['locked', 'PEER_BUSY'],
  ] as const)('is refused as %s with %s, whenever the refusal comes', async (refusal, expected) => {
    for (const early of [true, false]) {
      const { guest, owner } = messagePipes();
      const meeting = meetAsGuest(guest, code, { signal });
      await owner.receive({ signal });
      if (!early) {
        const yb = new Uint8Array(
          Buffer.from('2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c', 'hex'),
        );
        await owner.send(encodeMeetingMessage({ kind: 'share', yb }));
        await owner.receive({ signal });
      }
      await refuseGuest(owner, refusal);
      await expect(meeting).rejects.toMatchObject({ code: expected, detail: { remote: true } });
      expect(guest.closed).toBe(true);
    }
  });
});

describe('a meeting with one altered byte', () => {
  const bodies = [
    { name: 'HELLO', from: 'guest', index: 0, length: 50 },
    { name: 'SHARE', from: 'owner', index: 0, length: 34 },
    { name: 'CONFIRM of the guest', from: 'guest', index: 1, length: 33 },
    { name: 'CONFIRM of the owner', from: 'owner', index: 1, length: 33 },
  ] as const;
  const named = /^(CODE_WRONG|PEER_NEWER|PEER_OLDER|HANDSHAKE_MALFORMED|HANDSHAKE_TAMPERED|SESSION_LOST)$/;

  it.each(bodies)('is refused by name, at every position of $name', async ({ from, index, length }) => {
    for (let bit = 0; bit < length * 8; bit++) {
      const results = await meet((body, sender, number) => {
        if (sender === from && number === index) body[bit >> 3] = (body[bit >> 3] as number) ^ (1 << (bit & 7));
        return body;
      });
      expect(codeOf(results.guest), `bit ${bit}`).toMatch(named);
      // The owner's last body: the owner has already met the right guest, so only the guest notices the change.
      if (from === 'owner' && index === 1) expect(codeOf(results.owner)).toBe('ok');
      else expect(codeOf(results.owner), `bit ${bit}`).toMatch(named);
    }
  });

  it('is HANDSHAKE_TAMPERED for the guest when the owner’s tag is wrong', async () => {
    const { guest } = await meet((body, from, index) => {
      if (from === 'owner' && index === 1) body[10] = (body[10] as number) ^ 1;
      return body;
    });
    expect(codeOf(guest)).toBe('HANDSHAKE_TAMPERED');
  });

  it.each([
    ['empty', ''],
    ['of an unknown kind', '09'],
    ['one byte short', `0201${'11'.repeat(31)}`],
    ['one byte long', `0201${'11'.repeat(33)}`],
    ['a share that is no element', '02012b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c'],
    ['the neutral element', `0201${'00'.repeat(32)}`],
    ['out of turn', `04${'11'.repeat(32)}`],
    ['a refusal for no reason', '0500'],
    ['our own HELLO', `0101${'11'.repeat(48)}`],
  ])('is HANDSHAKE_MALFORMED for the guest where the owner’s body is %s', async (_, body) => {
    const pipe = await answeredGuest(body);
    await expect(meetAsGuest(pipe, code, { signal })).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
  });

  it.each([
    ['empty', ''],
    ['out of turn', `03${'11'.repeat(32)}`],
    ['short', `0101${'11'.repeat(47)}`],
    ['a share that is no element', `0101${'11'.repeat(16)}${'ff'.repeat(32)}`],
    ['the neutral element', `0101${'11'.repeat(16)}${'00'.repeat(32)}`],
  ])('is HANDSHAKE_MALFORMED for the owner where the guest’s body is %s', async (_, body) => {
    const { guest, owner } = messagePipes();
    const meeting = meetAsOwner(owner, code, { signal });
    await guest.send(new Uint8Array(Buffer.from(body, 'hex')));
    await expect(meeting).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
    expect(owner.closed).toBe(true);
  });

  it.each([
    ['the owner’s SHARE has a later version', `0202${'11'.repeat(32)}`],
    ['the owner refuses our version', '050602'],
  ])('is PEER_NEWER for the guest where %s', async (_, body) => {
    const pipe = await answeredGuest(body);
    await expect(meetAsGuest(pipe, code, { signal })).rejects.toMatchObject({ code: 'PEER_NEWER' });
  });

  async function answeredGuest(body: string): Promise<MessagePipe> {
    const { guest, owner } = messagePipes();
    await owner.send(new Uint8Array(Buffer.from(body, 'hex')));
    return guest;
  }
});

describe('an aborted meeting', () => {
  it.each(['guest', 'owner'] as const)(
    'throws the reason of the signal at the %s and leaves no listener',
    async (who) => {
      const controller = new AbortController();
      const pipes = messagePipes();
      const meetAs = who === 'guest' ? meetAsGuest : meetAsOwner;
      const meeting = meetAs(pipes[who], code, { signal: controller.signal });
      const reason = new KeibiError('CANCELLED');
      setImmediate(() => controller.abort(reason));
      await expect(meeting).rejects.toBe(reason);
      expect(pipes[who].closed).toBe(true);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    },
  );

  it('cannot be repeated by replaying an old conversation', async () => {
    const old: Uint8Array[] = [];
    await meet((body, from) => {
      if (from === 'guest') old.push(body.slice());
      return body;
    });
    const { guest, owner } = messagePipes();
    const meeting = meetAsOwner(owner, code, { signal });
    for (const body of old) await guest.send(body);
    await expect(meeting).rejects.toMatchObject({ code: 'CODE_WRONG' });
  });
});
