// SPDX-License-Identifier: MPL-2.0
import { type Candidate, MAX_CANDIDATES, parseCode } from '@keibidrop/protocol';
import { CandidateExchange, meetAsGuest } from '@keibidrop/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MeetingHost } from '../src/meeting/meeting-host.ts';
import { MailboxInMemory } from './mailbox-in-memory.ts';

const CODE = parseCode('7-guitar-pencil');
const ANNOUNCED: Candidate = { transport: 'direct', host: '192.0.2.1', port: 26431 };
const { signal } = new AbortController();

let near: MailboxInMemory;
let far: MailboxInMemory;
let desk: MeetingHost;
let asked: number;
const reported: (number | string)[] = [];

beforeEach(() => {
  [near, far] = [new MailboxInMemory(), new MailboxInMemory()];
  asked = 0;
  reported.splice(0);
  desk = new MeetingHost({
    code: CODE,
    candidates: () => [{ ...ANNOUNCED, port: ANNOUNCED.port + asked++ }],
    hasRoom: () => true,
    returnSecretOf: () => undefined,
    onWrongCode: (remaining) => reported.push(remaining),
    onExhausted: ({ code }) => reported.push(code),
    signal,
  });
  for (const mailbox of [near, far]) void desk.serve(mailbox);
});
afterEach(() => desk.close());

const guess = (mailbox: MailboxInMemory, code: string) => meetAsGuest(mailbox.join(), parseCode(code), { signal });

/** Meets with the right code. Returns the guest's meeting and the candidates it received. */
async function meet(mailbox: MailboxInMemory) {
  const pipe = mailbox.join();
  const meeting = await meetAsGuest(pipe, CODE, { signal });
  const exchange = new CandidateExchange(pipe, meeting, 'guest');
  const candidates = await exchange.receive({ signal });
  exchange.close();
  return { meeting, candidates };
}

describe('the meeting desk', () => {
  it('counts wrong guesses at all its mailboxes together', async () => {
    await expect(guess(near, '7-wrong-words')).rejects.toMatchObject({ code: 'CODE_WRONG' });
    await expect(guess(far, '7-wrong-words')).rejects.toMatchObject({ code: 'CODE_WRONG' });
    await expect(guess(near, '7-wrong-words')).rejects.toMatchObject({ code: 'CODE_WRONG' });
    await expect(guess(far, '7-guitar-pencil')).rejects.toMatchObject({ code: 'CODE_EXHAUSTED' });
    expect(reported).toEqual([2, 1, 'CODE_EXHAUSTED']);
  });

  it('asks for candidates once for each guest, and for none with a wrong code', async () => {
    await expect(guess(far, '7-wrong-words')).rejects.toMatchObject({ code: 'CODE_WRONG' });
    expect(asked).toBe(0);
    expect((await meet(far)).candidates).toEqual([ANNOUNCED]);
    expect((await meet(near)).candidates).toEqual([{ ...ANNOUNCED, port: ANNOUNCED.port + 1 }]);
  });

  it.each([
    ['HELLO', [1, 2, ...new Uint8Array(48)]],
    ['RETURN', [7, 2, ...new Uint8Array(32)]],
  ])('names its version to a guest whose %s has a later one, and counts no guess', async (_, body) => {
    const pipe = near.join();
    await pipe.send(Uint8Array.from(body));
    expect([...(await pipe.receive({ signal }))]).toEqual([5, 6, 1]);
    expect(reported).toEqual([]);
  });

  it('keeps a meeting through failed handshakes, until one completes', async () => {
    const { meeting } = await meet(near);
    for (let handshake = 0; handshake < 3; handshake++) expect(desk.authOf(meeting.attempt)).toEqual(meeting.auth);
    expect(desk.take(meeting.attempt)?.auth).toEqual(meeting.auth);
    expect(desk.take(meeting.attempt)).toBeUndefined();
    expect(desk.authOf(meeting.attempt)).toBeUndefined();
  });

  it('answers no more handshakes of one meeting than a guest has paths to try', async () => {
    const { meeting } = await meet(near);
    const answered = Array.from({ length: MAX_CANDIDATES + 5 }, () => desk.authOf(meeting.attempt) !== undefined);
    expect(answered.filter(Boolean)).toHaveLength(MAX_CANDIDATES + 1);
  });
});
