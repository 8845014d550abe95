// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonEvent } from '../harness/running.ts';
import { Sandbox } from '../harness/sandbox.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('letter'), 'dear you');
});
afterEach(() => sandbox.close());

/** The first line that a command prints with --json. */
async function printed(...args: string[]): Promise<JsonEvent> {
  const running = await sandbox.start([...args, '--json']);
  await running.ended;
  return running.events()[0] as JsonEvent;
}

/** Ann sends Ben a letter by a code; each has a configuration directory. */
async function letter({ ann = [], ben = [] }: { ann?: string[]; ben?: string[] }) {
  const send = ['--config', 'ann', ...ann];
  const receive = ['--config', 'ben', '--out', 'in', ...ben];
  const { sender, receiver, exits } = await sandbox.transfer(['letter'], { send, receive });
  expect([exits.sender, exits.receiver]).toEqual([0, 0]);
  expect(await readFile(sandbox.path('in', 'letter'), 'utf8')).toBe('dear you');
  const eventsOf = (running: typeof sender, kind: string) => running.events().filter(({ event }) => event === kind);
  return {
    sender: { saved: eventsOf(sender, 'saved'), warnings: eventsOf(sender, 'warning'), all: sender.events() },
    receiver: { saved: eventsOf(receiver, 'saved'), warnings: eventsOf(receiver, 'warning'), all: receiver.events() },
  };
}

const contacts = async (config: string) =>
  (await printed('contacts', '--config', config)).contacts as Record<string, unknown>[];
const fingerprint = async (config: string) => (await printed('id', '--config', config)).fingerprint;

describe('--save on both sides of a code', () => {
  it('saves each side as a contact of the other, and changes nothing the second time', async () => {
    const { sender, receiver } = await letter({ ann: ['--save', 'Ben'], ben: ['--save', 'Ann'] });
    const [ann, ben] = [await fingerprint('ann'), await fingerprint('ben')];
    expect(sender.saved).toEqual([{ event: 'saved', contact: 'Ben', fingerprint: ben }]);
    expect(receiver.saved).toEqual([{ event: 'saved', contact: 'Ann', fingerprint: ann }]);
    for (const { all } of [sender, receiver]) {
      const order = all.map(({ event }) => event).filter((event) => /connected|saved|done/.test(String(event)));
      expect(order[0]).toBe('connected');
      expect(order.at(-1)).toBe('done');
    }
    const kept = await contacts('ann');
    expect(kept).toMatchObject([{ name: 'Ben', fingerprint: ben, verified: false, lastSeen: expect.any(String) }]);
    expect(await contacts('ben')).toMatchObject([{ name: 'Ann', fingerprint: ann }]);
    expect(JSON.parse(await readFile(sandbox.path('ann', 'contacts.json'), 'utf8')).contacts[0].keys).toBeDefined();

    const again = await letter({ ann: ['--save', 'ben'], ben: ['--save', 'Ann'] });
    expect(again.sender.saved).toEqual([{ event: 'saved', contact: 'Ben', fingerprint: ben }]);
    expect(await contacts('ann')).toMatchObject([{ name: 'Ben', added: kept[0]?.added }]);
  });

  it('never saves a contact under the name of another', async () => {
    await printed('contacts', 'add', 'Ben', 'A'.repeat(86), '--config', 'ann');
    const { sender, receiver } = await letter({ ann: ['--save', 'Ben'], ben: ['--save', 'Ann'] });
    expect(sender.saved).toEqual([]);
    expect(sender.warnings).toMatchObject([{ message: expect.stringContaining('“Ben” is another contact') }]);
    expect(receiver.saved).toHaveLength(1);
    expect(await contacts('ann')).toMatchObject([{ name: 'Ben', fingerprint: 'A'.repeat(86) }]);
  });
});

describe('--save on one side only', () => {
  it.each<['sender' | 'receiver', Parameters<typeof letter>[0], string]>([
    ['sender', { ann: ['--save', 'Ben'] }, 'not saved as “Ben”: the receiver did not ask for it'],
    ['receiver', { ben: ['--save', 'Ann'] }, 'not saved as “Ann”: the sender did not ask for it'],
  ])('saves no contact and says why: the %s', async (side, args, why) => {
    const { sender, receiver } = await letter(args);
    const [asking, other] = side === 'sender' ? [sender, receiver] : [receiver, sender];
    expect(asking.warnings).toMatchObject([{ message: expect.stringContaining(why) }]);
    expect([...asking.saved, ...other.saved, ...other.warnings]).toEqual([]);
    expect(await contacts('ann')).toEqual([]);
    expect(await contacts('ben')).toEqual([]);
    // A side that did not pass --save does not even make an identity.
    const left = await readdir(sandbox.path(side === 'sender' ? 'ben' : 'ann'));
    expect(left.filter((name) => /identity|contacts/.test(name))).toEqual([]);
  });
});

describe('a wrong --save', () => {
  it.each([
    [['send', 'letter', '--save', '7-guitar-pencil'], 'USAGE', /looks like a code/],
    [['send', 'letter', '--save', 'Ben', '--receivers', '2'], 'USAGE', /leave out --receivers/],
    [['receive', '7-guitar-pencil', '--yes', '--save', ''], 'USAGE', /1 to 64 characters/],
    [
      ['receive', '7-guitar-pencil', '--yes', '--save', 'Ann', '--config', 'broken'],
      'CONTACTS_CORRUPT',
      /contacts\.json/,
    ],
  ])('is reported before anything starts: %j', async (args, code, words) => {
    await printed('contacts', 'add', 'Eve', 'A'.repeat(86), '--config', 'broken');
    await writeFile(sandbox.path('broken', 'contacts.json'), '{');
    expect(await printed(...args)).toEqual({ event: 'error', code, message: expect.stringMatching(words) });
  });
});

it('eight commands at once save eight contacts', async () => {
  const letters = [...'ABCDEFGH'];
  const adding = [];
  for (const letter of letters) {
    const who = [`Contact ${letter}`, `${letter}${'A'.repeat(85)}`];
    adding.push(await sandbox.start(['contacts', 'add', ...who, '--config', 'me']));
  }
  for (const running of adding) expect(await running.ended).toBe(0);
  expect((await contacts('me')).map(({ name }) => name)).toEqual(letters.map((letter) => `Contact ${letter}`));
  expect((await readdir(sandbox.path('me'))).sort()).toEqual(['contacts.json', 'contacts.json.lock']);
});
