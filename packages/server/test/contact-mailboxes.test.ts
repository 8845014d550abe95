// SPDX-License-Identifier: MPL-2.0
import { status } from '@grpc/grpc-js';
import { Open_Role } from '@keibidrop/proto';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_RELAY_LIMITS } from '../src/relay-limits.ts';
import { serveOnLoopback } from './loopback.ts';

const MAILBOX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const NOBODY = new Uint8Array();

let server: Awaited<ReturnType<typeof serveOnLoopback>>;
afterEach(() => server.close());

async function serve(limits: Partial<(typeof DEFAULT_RELAY_LIMITS)['rendezvous']> = {}) {
  server = await serveOnLoopback({ limits: { ...DEFAULT_RELAY_LIMITS.rendezvous, ...limits } });
}

/** The server's first message, or the status that ends the call. */
function open(mailbox: string, role: Open_Role, contact: boolean) {
  const call = server.call();
  call.open(mailbox, role, NOBODY, contact);
  return call.next().then(
    (kind) => kind?.$case,
    async () => (await call.status).code,
  );
}

const own = (mailbox: string, contact: boolean) => open(mailbox, Open_Role.OWNER, contact);
const visit = (mailbox: string, contact: boolean) => open(mailbox, Open_Role.GUEST, contact);

describe('the mailboxes of contacts', () => {
  it('are not found as mailboxes of numbers, nor the reverse', async () => {
    await serve();
    expect(await own(MAILBOX, true)).toBe('opened');
    expect(await visit(MAILBOX, false)).toBe(status.NOT_FOUND);
    expect(await visit(MAILBOX, true)).toBe('opened');
    expect(await own(OTHER, false)).toBe('opened');
    expect(await visit(OTHER, true)).toBe(status.NOT_FOUND);
    expect(await own(OTHER, true)).toBe('opened');
  });

  it('have their own limits: an absent contact does not count as a guess', async () => {
    await serve({
      mailboxesPerNetwork: 1,
      contactMailboxesPerNetwork: 2,
      guessesPerMinute: 1,
      contactMissesPerMinute: 3,
    });
    expect([await own(MAILBOX, true), await own(OTHER, true)]).toEqual(['opened', 'opened']);
    expect(await own('ef'.repeat(32), true)).toBe(status.RESOURCE_EXHAUSTED);
    expect(await own(MAILBOX, false)).toBe('opened');
    for (const digit of ['0', '1']) expect(await visit(digit.repeat(64), true)).toBe(status.NOT_FOUND);
    expect(await visit(MAILBOX, false)).toBe('opened');
    expect(await visit('2'.repeat(64), true)).toBe(status.NOT_FOUND);
    expect(await visit(MAILBOX, true)).toBe(status.RESOURCE_EXHAUSTED);
    expect(await visit(MAILBOX, false)).toBe('opened');
    expect(await visit(OTHER, false)).toBe(status.NOT_FOUND);
    expect(await visit(MAILBOX, false)).toBe(status.RESOURCE_EXHAUSTED);
  });
});
