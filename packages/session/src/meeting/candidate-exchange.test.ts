// SPDX-License-Identifier: MPL-2.0
import { type Candidate, KeibiError, MAX_MAILBOX_BODY_BYTES, parseCode } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { type AlterBody, messagePipes } from '../../test/message-pipes.ts';
import { CandidateExchange } from './candidate-exchange.ts';
import { meetAsGuest, meetAsOwner } from './meeting.ts';

const signal = new AbortController().signal;
const code = parseCode('7-guitar-pencil');
const candidates: Candidate[] = [
  { transport: 'local', host: '127.0.0.1', port: 26431 },
  { transport: 'direct', host: 'fe80::1%eth0', port: 1 },
];

async function exchange(alter?: AlterBody) {
  const pipes = messagePipes(alter);
  const [atGuest, atOwner] = await Promise.all([
    meetAsGuest(pipes.guest, code, { signal }),
    meetAsOwner(pipes.owner, code, { signal }),
  ]);
  return {
    guest: new CandidateExchange(pipes.guest, atGuest, 'guest'),
    owner: new CandidateExchange(pipes.owner, atOwner, 'owner'),
    pipes,
    atGuest,
  };
}

describe('an exchange of candidates', () => {
  it('carries them both ways, and later ones after the first', async () => {
    const { guest, owner } = await exchange();
    await owner.send(candidates);
    await guest.send([]);
    await owner.send(candidates.slice(0, 1));
    expect(await guest.receive({ signal })).toEqual(candidates);
    expect(await guest.receive({ signal })).toEqual(candidates.slice(0, 1));
    expect(await owner.receive({ signal })).toEqual([]);
    guest.close();
    owner.close();
  });

  it('fits the longest list into a mailbox body', async () => {
    const host = 'f'.repeat(45);
    const many = Array.from({ length: 32 }, (_, i) => ({ transport: 'direct', host, port: 60000 + i }));
    let longest = 0;
    const { guest, owner } = await exchange((body) => {
      longest = Math.max(longest, body.length);
      return body;
    });
    await owner.send(many);
    expect(await guest.receive({ signal })).toEqual(many);
    expect(longest).toBeLessThanOrEqual(MAX_MAILBOX_BODY_BYTES);
  });

  it('hides the candidates from the mailbox and keeps no key', async () => {
    const seen: Uint8Array[] = [];
    const { owner, atGuest } = await exchange((body) => {
      seen.push(body.slice());
      return body;
    });
    await owner.send(candidates);
    expect(Buffer.from(seen.at(-1) as Uint8Array).includes('127.0.0.1')).toBe(false);
    expect([...atGuest.sealGuest, ...atGuest.sealOwner].every((byte) => byte === 0)).toBe(true);
    expect(atGuest.auth.some((byte) => byte !== 0)).toBe(true);
  });

  it('refuses a body by name when any byte is altered', async () => {
    let length = 1;
    for (let at = 0; at < length; at++) {
      const { guest, owner } = await exchange((body, from, index) => {
        if (from !== 'owner' || index !== 2) return body;
        length = body.length;
        body[at] = (body[at] as number) ^ 0x10;
        return body;
      });
      await owner.send(candidates.slice(0, 1));
      const error = await guest.receive({ signal }).catch((reason) => reason);
      expect(error, `byte ${at}`).toBeInstanceOf(KeibiError);
      expect((error as KeibiError).code, `byte ${at}`).toMatch(/^(HANDSHAKE_MALFORMED|FRAME_[A-Z_]+)$/);
      guest.close();
      owner.close();
    }
    expect(length).toBeGreaterThan(80);
  });

  it.each([
    ['nothing', '06'],
    ['a piece of a length', '0600'],
    ['a length and no more', '060000001c'],
    ['a length over every limit', '06ffffffff'],
    ['a frame of zeros', `060000001c${'00'.repeat(28)}`],
  ])('refuses by name a body that seals %s', async (_, body) => {
    const { guest, pipes } = await exchange();
    await pipes.owner.send(new Uint8Array(Buffer.from(body, 'hex')));
    await expect(guest.receive({ signal })).rejects.toMatchObject({
      name: 'KeibiError',
      code: expect.stringMatching(/^FRAME_/),
    });
  });

  it('refuses a body of the other direction, and a repeated body', async () => {
    const bodies: Uint8Array[] = [];
    const { guest, owner, pipes } = await exchange((body) => {
      bodies.push(body.slice());
      return body;
    });
    await guest.send(candidates);
    await owner.receive({ signal });
    const sealed = bodies.at(-1) as Uint8Array;
    await pipes.owner.send(sealed);
    await expect(guest.receive({ signal })).rejects.toMatchObject({ code: 'FRAME_AUTH_FAILED' });
    await pipes.guest.send(sealed);
    await expect(owner.receive({ signal })).rejects.toMatchObject({ code: 'FRAME_REPLAYED' });
  });
});
