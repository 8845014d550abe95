// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { type AlterBody, messagePipes } from '../../test/message-pipes.ts';
import { SealedConversation } from './sealed-conversation.ts';

const signal = new AbortController().signal;
const key = (byte: number) => new Uint8Array(32).fill(byte);

function conversations(alter?: AlterBody) {
  const pipes = messagePipes(alter);
  const guest = new SealedConversation(pipes.guest, { write: key(1), read: key(2) });
  const owner = new SealedConversation(pipes.owner, { write: key(2), read: key(1) });
  return { guest, owner, pipes };
}

const id = new Uint8Array(16).fill(7);
const said = [
  { kind: 'ping' },
  { kind: 'invite', invitation: { id, code: '7-guitar-pencil', to: 'files', label: 'photos' } },
  { kind: 'withdraw', id },
] as const;

describe('a conversation of contacts', () => {
  it('delivers everything in order, even when both sides send at once', async () => {
    const { guest, owner } = conversations();
    await Promise.all(said.map((message) => guest.send(message)));
    for (const message of said) expect(await owner.receive({ signal })).toEqual(message);
  });

  it('shows no code to the mailbox', async () => {
    const bodies: string[] = [];
    const { guest } = conversations((body) => {
      bodies.push(Buffer.from(body).toString('latin1'));
      return body;
    });
    await guest.send(said[1]);
    expect(bodies.join()).not.toMatch(/guitar|pencil|photos/);
  });

  it('zeroes the keys it is given', () => {
    const keys = { write: key(1), read: key(2) };
    new SealedConversation(messagePipes().guest, keys).close();
    expect([keys.write, keys.read]).toEqual([key(0), key(0)]);
  });

  const faults: [string, (bodies: Uint8Array[]) => Uint8Array[], string][] = [
    ['altered', ([first = id]) => [flipped(first, -1)], 'FRAME_AUTH_FAILED'],
    ['repeated', ([first = id]) => [first, first], 'FRAME_REPLAYED'],
    ['out of order', ([first = id, second = id]) => [second, first], 'FRAME_REPLAYED'],
    ['left out', ([, second = id]) => [second], 'FRAME_REPLAYED'],
    ['cut short', ([first = id]) => [first.subarray(0, -1)], 'FRAME_TRUNCATED'],
    ['empty', () => [new Uint8Array()], 'HANDSHAKE_MALFORMED'],
    ['not sealed', () => [Uint8Array.of(5, 1)], 'HANDSHAKE_MALFORMED'],
    ['without its kind', ([first = id]) => [first.subarray(1)], 'HANDSHAKE_MALFORMED'],
  ];

  it.each(faults)('refuses a message that is %s', async (_, change, code) => {
    const bodies: Uint8Array[] = [];
    const { guest } = conversations((body) => {
      bodies.push(body.slice());
      return body;
    });
    for (const message of said) await guest.send(message);
    const { owner, pipes } = conversations();
    const changed = change(bodies);
    for (const body of changed) await pipes.guest.send(body);
    const heard = async () => {
      for (const _body of changed) await owner.receive({ signal });
    };
    await expect(heard()).rejects.toMatchObject({ name: 'KeibiError', code });
  });

  it('refuses our own message when it is sent back to us', async () => {
    const { guest, owner, pipes } = conversations();
    await guest.send({ kind: 'ping' });
    await pipes.owner.send(await pipes.owner.receive({ signal }));
    await expect(guest.receive({ signal })).rejects.toMatchObject({ code: 'FRAME_AUTH_FAILED' });
    owner.close();
  });

  it('ends for both sides, and can be closed twice', async () => {
    const { guest, owner } = conversations();
    guest.close();
    guest.close();
    await expect(owner.receive({ signal })).rejects.toMatchObject({ code: 'SESSION_LOST' });
    await expect(guest.send({ kind: 'ping' })).rejects.toMatchObject({ name: 'KeibiError', code: 'SESSION_CLOSED' });
  });
});

function flipped(body: Uint8Array, at: number): Uint8Array {
  const copy = body.slice();
  const index = copy.length + at;
  copy[index] = (copy[index] as number) ^ 1;
  return copy;
}
