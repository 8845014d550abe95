// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContactStore, IdentityStore } from '@keibidrop/contacts';
import { fingerprintPhrase, formatFingerprint } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRecordedIo } from '../../test/recorded-io.ts';
import { createScriptedPeer } from '../../test/scripted-peer.ts';
import { type ContactsCommand, command } from './contacts.ts';

let config: string;
beforeEach(async () => {
  config = await mkdtemp(join(tmpdir(), 'keibidrop-contacts-'));
});
afterEach(() => rm(config, { recursive: true }));

const fingerprint = (byte: number) => new Uint8Array(64).fill(byte);
const loadPeer = async () => createScriptedPeer({}).peer;

/** Output of one command. */
async function run(options: ContactsCommand, io: Parameters<typeof createRecordedIo>[0] = {}): Promise<string> {
  const recorded = createRecordedIo(io);
  expect(await command.run({ config, ...options }, recorded, loadPeer)).toBe(0);
  return recorded.printed.stdout;
}

describe('keibidrop contacts', () => {
  it('lists each contact on an aligned line with its attributes', async () => {
    await run({ action: 'add', name: 'Ann', fingerprint: fingerprint(1) });
    await run({ action: 'add', name: 'Žofie 🎸', fingerprint: fingerprint(2) });
    await run({ action: 'verify', name: 'ann', yes: true });
    await run({ action: 'rule', name: 'Ann', rule: 'accept', folder: join(config, 'in') });
    await run({ action: 'block', name: 'žofie 🎸' });
    expect(await run({ action: 'list' })).toBe(
      `Ann       verified      never seen       into ${join(config, 'in')}\n` +
        'Žofie 🎸  not verified  never seen       blocked\n' +
        '2 contacts.\n',
    );
  });

  it('confirms each change in a sentence', async () => {
    const said = async (command: ContactsCommand) => (await run(command)).trimEnd().split('\n')[0];
    expect(await said({ action: 'add', name: 'Ann', fingerprint: fingerprint(1) })).toBe('Added Ann.');
    expect(await said({ action: 'rename', name: 'Ann', to: 'Anna' })).toBe('Ann is Anna now.');
    expect(await said({ action: 'rule', name: 'Anna', rule: 'never' })).toBe('What Anna sends is refused.');
    expect(await said({ action: 'rule', name: 'Anna', rule: 'ask' })).toBe('You are asked about what Anna sends.');
    expect(await said({ action: 'block', name: 'Anna' })).toBe('Anna is blocked, and gets a notice.');
    expect(await said({ action: 'unblock', name: 'Anna' })).toBe('Anna is not blocked.');
    expect(await said({ action: 'verify', name: 'Anna', undo: true })).toBe('Anna is no longer verified.');
    expect(await said({ action: 'remove', name: 'Anna' })).toBe('Anna is forgotten.');
  });

  it('resolves a relative folder against the working directory', async () => {
    await run({ action: 'add', name: 'Ann', fingerprint: fingerprint(1) });
    await run({ action: 'rule', name: 'Ann', rule: 'accept', folder: 'in' });
    const { rule } = await new ContactStore({ directory: config }).get('Ann');
    expect(rule).toEqual({ kind: 'accept', folder: join(createRecordedIo().cwd, 'in') });
  });

  it('--json prints all fields of a contact in one object', async () => {
    await run({ action: 'add', name: 'Ann', fingerprint: fingerprint(1) });
    const { event, contacts } = JSON.parse(await run({ action: 'list', json: true }));
    expect(event).toBe('contacts');
    expect(contacts).toEqual([
      {
        name: 'Ann',
        fingerprint: formatFingerprint(fingerprint(1)),
        words: fingerprintPhrase(fingerprint(1)),
        verified: false,
        blocked: false,
        rule: 'ask',
        added: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
  });
});

describe('keibidrop contacts verify', () => {
  const self = async () => {
    const store = new IdentityStore({ directory: config, askPassphrase: () => expect.unreachable() });
    return (await store.open()).keys.fingerprint;
  };

  it('shows both fingerprints as words beside their names, and accepts a yes', async () => {
    await run({ action: 'add', name: 'Ann-Kathrin', fingerprint: fingerprint(1) });
    const io = createRecordedIo({ terminal: true, answers: ['y'] });
    await command.run({ action: 'verify', name: 'Ann-Kathrin', config }, io, loadPeer);
    expect(io.printed.stderr).toContain(`\nYou\n  ${fingerprintPhrase(await self())}\n`);
    expect(io.printed.stderr).toContain(`\nAnn-Kathrin\n  ${fingerprintPhrase(fingerprint(1))}\n`);
    for (const line of io.printed.stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(io.printed.stdout).toBe('Ann-Kathrin is verified.\n');
    expect((await new ContactStore({ directory: config }).get('Ann-Kathrin')).verified).toBe(true);
  });

  it.each(['', 'n', 'yes?'])('changes nothing after %j', async (answer) => {
    await run({ action: 'add', name: 'Ann', fingerprint: fingerprint(1) });
    const io = createRecordedIo({ terminal: true, answers: [answer] });
    const verifying = command.run({ action: 'verify', name: 'Ann', config }, io, loadPeer);
    await expect(verifying).rejects.toMatchObject({ code: 'OFFER_DECLINED' });
    expect((await new ContactStore({ directory: config }).get('Ann')).verified).toBe(false);
  });

  it('refuses to verify without a terminal', async () => {
    await run({ action: 'add', name: 'Ann', fingerprint: fingerprint(1) });
    await expect(run({ action: 'verify', name: 'Ann' })).rejects.toMatchObject({ code: 'USAGE' });
  });
});
