// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inNamespace, Lan } from '../harness/lan.ts';
import { IS_ROOT, lastOf, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { startRelay } from '../reach/away.ts';
import { ManInTheMiddle } from '../wire/man-in-the-middle.ts';
import { secretsFoundIn } from '../wire/secrets.ts';
import { type Heard, OwnDaemon } from './own-daemon.ts';

// Contacts that added each other by fingerprint, each with its own daemon or command.

const CONTENT = 'from one contact to another\n';
/** Presence promises 10 s; the rest is for a busy machine. */
const PRESENCE_MS = 20_000;

interface Contacts {
  contacts: { name: string; online: boolean }[];
}

/** Adds every configuration directory to the contacts of all others, under the directory's name. */
async function acquaint(sandbox: Sandbox, names: readonly string[]): Promise<Map<string, string>> {
  const fingerprints = new Map<string, string>();
  for (const name of names) {
    const id = await sandbox.start(['id', '--json', '--config', name]);
    fingerprints.set(name, (await id.until('identity')).fingerprint as string);
  }
  for (const name of names) {
    for (const [other, fingerprint] of fingerprints) {
      if (other === name) continue;
      const added = await sandbox.start(['contacts', 'add', other, fingerprint, '--json', '--config', name]);
      expect(await added.ended, added.stdout + added.stderr).toBe(0);
    }
  }
  return fingerprints;
}

/** Waits until the daemon shows the contact in this state. Returns how long that took. */
async function seen(daemon: OwnDaemon, name: string, online: boolean): Promise<number> {
  const began = performance.now();
  const shows = (event: Heard) =>
    event.event === 'contacts'
      ? (event as unknown as Contacts).contacts.some((one) => one.name === name && one.online === online)
      : event.event === 'presence' && event.contact === name && event.online === online;
  await daemon.until(shows);
  return performance.now() - began;
}

describe('contacts on one machine', () => {
  let sandbox: Sandbox;
  let alice: OwnDaemon;
  let bob: OwnDaemon;
  const env = { KD_LISTEN: '127.0.0.1:0' };
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    await writeFile(sandbox.path('file'), CONTENT);
    await acquaint(sandbox, ['alice', 'bob', 'carol']);
    [alice, bob] = await Promise.all([
      OwnDaemon.start(sandbox, 'alice', { env }),
      OwnDaemon.start(sandbox, 'bob', { env }),
    ]);
  });
  afterAll(() => sandbox.close());

  const answer = async (name: string, given: 'yes' | 'no') => {
    const asked = await bob.until(({ event, kind, contact }) => {
      return event === 'question' && kind === 'invitation' && contact === name;
    });
    const { signal } = bob;
    await (await bob.own()).call('answer', { question: asked.question as number, answer: given }, { signal });
  };
  const rule = (...words: string[]) => bob.command('contacts', 'rule', 'alice', ...words);
  const sendToBob = (...args: string[]) =>
    sandbox.start(['send', ...args, '--to', 'BOB', '--json', '--config', 'alice'], { env });

  it('are seen within ten seconds when they come, are killed, and come back', async () => {
    await Promise.all([seen(alice, 'bob', true), seen(bob, 'alice', true)]);
    bob.running.kill();
    expect(await seen(alice, 'bob', false)).toBeLessThan(PRESENCE_MS);
    await bob.replace();
    expect(await seen(alice, 'bob', true)).toBeLessThan(PRESENCE_MS);
  });

  it('send without a code into the folder of a rule, with or without a daemon', async () => {
    await rule('accept', sandbox.path('inbox'));
    const sender = await sendToBob('file');
    expect(await sender.ended, sender.stdout + sender.stderr).toBe(0);
    expect(await readFile(sandbox.path('inbox', 'file'), 'utf8')).toBe(CONTENT);
    expect(sender.stdout).not.toMatch(/"code":"\d/);
    expect(await sender.until('connected')).toMatchObject({
      peer: 'bob',
      contact: 'bob',
      verified: false,
      path: 'local',
    });
    expect(lastOf(sender)).toMatchObject({ event: 'done', files: 1 });

    await writeFile(sandbox.path('second'), CONTENT);
    const order = await alice.order('send', 'second', '--to', 'bob');
    expect(await alice.state(order.id, 'done')).toMatchObject({ contact: 'bob', files: 1 });
    expect(await readFile(sandbox.path('inbox', 'second'), 'utf8')).toBe(CONTENT);

    const stranger = await sandbox.start(
      ['send', 'file', '--to', 'bob', '--json', '--config', 'carol', '--patience', '5s'],
      { env },
    );
    await answer('carol', 'yes');
    expect(await stranger.ended, stranger.stdout).toBe(0);
  });

  it('send texts, which stay until they were shown, even across daemons', async () => {
    await rule('accept', sandbox.path('inbox'));
    expect(await (await sendToBob('--text', 'a word\nwith you')).ended).toBe(0);
    await bob.replace();
    expect(await bob.said('transfers')).toMatch(/text from alice.*\n {6}a word\n {6}with you\n/);
    await bob.replace();
    expect(await bob.said('transfers')).toBe('Nothing is under way.\n');
    await rule('ask');
    await seen(alice, 'bob', true);
    const sender = await sendToBob('--text', 'another word');
    await bob.until(({ event, kind }) => event === 'question' && kind === 'invitation');
    expect(await bob.said('invitations', 'accept')).toBe('another word');
    expect(await sender.ended).toBe(0);
  });

  it('are asked, and decline by name', async () => {
    await rule('ask');
    const sender = await sendToBob('--text', 'a word with you');
    await answer('alice', 'no');
    expect(await sender.ended).toBe(3);
    expect(lastOf(sender)).toMatchObject({
      event: 'error',
      code: 'OFFER_DECLINED',
      message: expect.stringMatching(/^bob /),
    });
  });

  it('are offered only the names that --exclude leaves', async () => {
    await mkdir(sandbox.path('project'));
    for (const name of ['kept', 'a.tmp', 'b.tmp']) await writeFile(sandbox.path('project', name), CONTENT);
    await rule('ask');
    const offer = () => sendToBob('project', '--exclude', '*.tmp');
    const asking = await offer();
    await bob.until(({ event, kind }) => event === 'question' && kind === 'invitation');
    const { event } = await bob.command('invitations');
    expect(event).toMatchObject({ invitations: [{ label: 'project', files: 1, bytes: CONTENT.length }] });
    await bob.command('invitations', 'decline');
    expect(await asking.ended).toBe(3);

    await rule('accept', sandbox.path('chosen'));
    expect(await (await offer()).ended).toBe(0);
    expect(await readdir(sandbox.path('chosen/project'))).toEqual(['kept']);
  });

  it.each([
    ['OFFER_DECLINED', ['contacts', 'rule', 'alice', 'never'], ['contacts', 'rule', 'alice', 'ask']],
    ['CONTACT_BLOCKED', ['contacts', 'block', 'alice'], ['contacts', 'unblock', 'alice']],
  ])('are refused by name: %s', async (code, refuse, undo) => {
    await bob.command(...refuse);
    if (code === 'CONTACT_BLOCKED') await seen(alice, 'bob', false);
    const sender = await sendToBob('file');
    expect(await sender.ended).toBe(3);
    expect(lastOf(sender)).toMatchObject({ event: 'error', code, message: expect.stringMatching(/^bob /) });
    await bob.command(...undo);
    await seen(alice, 'bob', true);
  });

  it('several at once: the sender reports by name who received nothing, and the others have everything', async () => {
    await rule('accept', sandbox.path('both'));
    const sender = await sendToBob('file', '--to', 'carol', '--patience', '4s');
    expect(await sender.ended).toBe(4);
    expect(await readFile(sandbox.path('both', 'file'), 'utf8')).toBe(CONTENT);
    expect(await sender.until('receiverDone')).toMatchObject({ contact: 'bob', receiver: 2, files: 1 });
    expect(await sender.until('inviting', ({ contact }) => contact === 'carol')).toMatchObject({ state: 'absent' });
    expect(lastOf(sender)).toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringMatching(/^carol .*--patience/),
    });
  });

  it('that are offline are waited for, until Ctrl-C', async () => {
    const sender = await sandbox.start(['send', 'file', '--to', 'carol', '--config', 'alice'], { env });
    await sender.shows(/Waiting for carol to come online/);
    sender.kill('SIGINT');
    expect(await sender.ended).toBe(130);
    const nobody = await sandbox.start(['send', 'file', '--to', 'dave', '--json', '--config', 'alice'], { env });
    expect(await nobody.ended).toBe(1);
    expect(lastOf(nobody)).toMatchObject({ code: 'CONTACT_UNKNOWN' });
  });
});

describe('an identity that is restored', () => {
  let sandbox: Sandbox;
  const env = { KD_LISTEN: '127.0.0.1:0' };
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    await acquaint(sandbox, ['alice', 'bob']);
  });
  afterAll(() => sandbox.close());

  it('reaches a running contact, by the contacts of its copy or by a fingerprint alone', async () => {
    await writeFile(sandbox.path('words'), 'correct horse battery staple\n');
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((name) => OwnDaemon.start(sandbox, name, { env })));
    if (alice === undefined || bob === undefined) throw new Error('There are no daemons.');
    await Promise.all([seen(alice, 'bob', true), seen(bob, 'alice', true)]);
    const { event: contacts } = await bob.command('contacts');
    const [{ fingerprint: aliceIs } = { fingerprint: '' }] = contacts.contacts as { fingerprint: string }[];
    const [{ fingerprint: bobIs } = { fingerprint: '' }] = (await alice.command('contacts')).event.contacts as {
      fingerprint: string;
    }[];
    const copied = await alice.command('id', 'export', 'copy', '--new-passphrase-file', 'words');
    expect(copied.event).toMatchObject({ event: 'identity', fingerprint: aliceIs });
    alice.running.kill();
    await seen(bob, 'alice', false);
    // As after they have met in the mailbox of both keys.
    const file = sandbox.path('bob', 'contacts.json');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('"paired": false', '"paired": true'));

    const copy = ['id', 'import', 'copy', '--passphrase-file', 'words', '--json', '--config', 'restored'];
    expect(await (await sandbox.start(copy)).ended).toBe(0);
    const restored = await OwnDaemon.start(sandbox, 'restored', { env });
    await Promise.all([seen(restored, 'bob', true), seen(bob, 'alice', true)]);

    expect((await restored.command('contacts', 'remove', 'bob')).exit).toBe(0);
    await seen(bob, 'alice', false);
    expect((await restored.command('contacts', 'add', 'Robert', bobIs)).exit).toBe(0);
    await Promise.all([seen(restored, 'Robert', true), seen(bob, 'alice', true)]);

    const kept = sandbox.path('restored', 'contacts.json');
    await writeFile(kept, (await readFile(kept, 'utf8')).replaceAll('"paired": false', '"paired": true'));
    restored.running.kill();
    await seen(bob, 'alice', false);
    const rotated = await restored.command('id', 'rotate', '--yes', '--silent');
    expect(rotated.exit).toBe(0);
    expect(await readFile(kept, 'utf8')).not.toContain('"paired": true');
    await restored.replace();
    const { fingerprint } = rotated.event as { fingerprint: string };
    expect((await bob.command('contacts', 'add', 'Alice as she is now', fingerprint)).exit).toBe(0);
    await Promise.all([seen(restored, 'Robert', true), seen(bob, 'Alice as she is now', true)]);
  });
});

describe('contacts at a rendezvous alone', () => {
  it('see each other, send, and leave no name, fingerprint or content there', async () => {
    const sandbox = await Sandbox.open();
    const relay = await startRelay(sandbox);
    const recorder = await ManInTheMiddle.open(relay.port);
    try {
      await writeFile(sandbox.path('letter-to-bob'), CONTENT);
      const fingerprints = await acquaint(sandbox, ['alice-anders', 'robert-roe']);
      const away = sandbox.path('away');
      await mkdir(away, { mode: 0o700 });
      const env = { KD_LISTEN: '127.0.0.1:0', KD_RENDEZVOUS: `127.0.0.1:${recorder.port}` };
      const robert: StartOptions = { env: { ...env, XDG_RUNTIME_DIR: away } };
      const alice = await OwnDaemon.start(sandbox, 'alice-anders', { env });
      await OwnDaemon.start(sandbox, 'robert-roe', robert);
      expect(await seen(alice, 'robert-roe', true)).toBeLessThan(PRESENCE_MS);
      const set = ['contacts', 'rule', 'alice-anders', 'accept', sandbox.path('inbox'), '--config', 'robert-roe'];
      expect(await (await sandbox.start(set, robert)).ended).toBe(0);
      const send = ['send', 'letter-to-bob', '--to', 'robert-roe', '--json', '--config', 'alice-anders'];
      const sender = await sandbox.start(send, { env });
      expect(await sender.ended, sender.stdout + sender.stderr).toBe(0);
      expect(await readFile(sandbox.path('inbox', 'letter-to-bob'), 'utf8')).toBe(CONTENT);

      const wire = recorder.bytes;
      expect(recorder.of('rendezvous').length).toBeGreaterThanOrEqual(2);
      const prints = [...fingerprints.values()].flatMap((text) => [
        text.slice(0, 40),
        String(Buffer.from(text, 'base64url')),
      ]);
      const secrets = ['alice-anders', 'robert-roe', 'letter-to-bob', CONTENT, hostname(), ...prints];
      expect(secretsFoundIn(wire, secrets)).toEqual([]);
      for (const text of fingerprints.values()) expect(wire.includes(Buffer.from(text, 'base64url'))).toBe(false);
    } finally {
      await sandbox.close();
      await recorder.close();
    }
  });
});

describe.skipIf(!IS_ROOT)('contacts on a network (needs root, for namespaces)', () => {
  it('see each other, even after a cable was unplugged and plugged in, and send', async () => {
    const lan = new Lan();
    const sandboxes = [await Sandbox.open(), await Sandbox.open()] as const;
    try {
      const middle = lan.switch('s');
      const hosts = ['10.77.9.1/24', '10.77.9.2/24'].map((ipv4, i) => {
        const host = lan.host(`h${i}`);
        return { host, plug: lan.plug(host, middle, 'eth0', { ipv4 }) };
      });
      await writeFile(sandboxes[0].path('file'), CONTENT);
      const [home, other] = sandboxes;
      await acquaint(home, ['alice', 'bob']);
      const at = (i: number): StartOptions => ({
        under: inNamespace(hosts[i]?.host as string),
        env: { KD_DISCOVERY: 'auto', KD_CONFIG_DIR: '' },
      });
      const alice = await OwnDaemon.start(home, home.path('alice'), at(0));
      await OwnDaemon.start(other, home.path('bob'), at(1));
      expect(await seen(alice, 'bob', true)).toBeLessThan(PRESENCE_MS);
      const { silence, endSilence } = await import('../harness/lan.ts');
      const plug = hosts[1]?.plug as Parameters<typeof silence>[0];
      silence(plug);
      expect(await seen(alice, 'bob', false)).toBeLessThan(PRESENCE_MS);
      endSilence(plug);
      expect(await seen(alice, 'bob', true)).toBeLessThan(PRESENCE_MS);
      const set = ['contacts', 'rule', 'alice', 'accept', other.path('inbox'), '--config', home.path('bob')];
      expect(await (await other.start(set, at(1))).ended).toBe(0);
      const sender = await home.start(['send', 'file', '--to', 'bob', '--json', '--config', home.path('alice')], at(0));
      expect(await sender.ended, sender.stdout + sender.stderr).toBe(0);
      expect(await sender.until('connected')).toMatchObject({ path: 'lan', contact: 'bob' });
      expect(await readFile(other.path('inbox', 'file'), 'utf8')).toBe(CONTENT);
    } finally {
      // Programs of the second sandbox have their configuration in the first.
      for (const sandbox of [...sandboxes].reverse()) await sandbox.close();
      lan.close();
    }
  });
});
