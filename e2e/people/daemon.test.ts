// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODE, IS_ROOT, LISTEN, NOBODY, run, Sandbox } from '../harness/sandbox.ts';
import { PROGRAM } from '../hostile/command.ts';
import { OwnDaemon } from './own-daemon.ts';

const MIB = 2 ** 20;
const SLOW = { limit: 8 * MIB, directOnly: false, relayOnly: false };
/** Slow enough for a separate command to run before the end, even on a busy machine. */
const SLOWER = { ...SLOW, limit: 2 * MIB };

let sandbox: Sandbox;
let alice: OwnDaemon;
let bob: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('big'), randomBytes(8 * MIB));
  await writeFile(sandbox.path('small'), 'content');
  alice = await OwnDaemon.start(sandbox, 'alice');
  bob = await OwnDaemon.start(sandbox, 'bob');
});
afterAll(() => sandbox.close());

const equal = async (out: string, name: string) =>
  (await readFile(sandbox.path(out, name))).equals(await readFile(sandbox.path(name)));

describe('two daemons', () => {
  it('transfer in the background, and both keep it in the history', async () => {
    const sent = await alice.order('send', 'big', ...LISTEN);
    expect(sent).toMatchObject({ state: 'waiting', what: 'big', code: expect.stringMatching(/^\d+-\w+-\w+$/) });
    const received = await bob.order('receive', sent.code as string, '--yes', '--out', 'in');
    expect(await bob.state(received.id, 'done')).toMatchObject({ what: 'big', files: 1, bytes: 8 * MIB });
    await alice.state(sent.id, 'done');
    expect(await equal('in', 'big')).toBe(true);
    const { event } = await bob.command('history');
    expect(event.entries).toEqual([expect.objectContaining({ kind: 'receive', what: 'big', files: 1, result: 'OK' })]);
  });

  it('ask before they write, and any client may answer', async () => {
    const { code } = await alice.send({ paths: [sandbox.path('small')] });
    const id = await bob.receive({ code, out: sandbox.path('asked') });
    const asked = await bob.until(({ event }) => event === 'question');
    expect(asked).toMatchObject({
      transfer: id,
      kind: 'offer',
      names: ['small'],
      bytes: 7,
      place: sandbox.path('asked'),
      freeBytes: expect.any(Number),
    });
    expect((await bob.command('transfers', 'accept', `${id}`)).exit).toBe(0);
    await bob.state(id, 'done');
    expect((await bob.command('transfers', 'accept', `${id}`)).event).toMatchObject({ code: 'QUESTION_GONE' });
    expect(await equal('asked', 'small')).toBe(true);
  });

  it('receive an offer where the answer says, and reject an invalid folder', async () => {
    const { code } = await alice.send({ paths: [sandbox.path('small')] });
    const id = await bob.receive({ code, out: '~/first' });
    const { question, place } = await bob.until(({ event }) => event === 'question');
    expect(place).toBe(sandbox.path('first'));
    const own = await bob.own();
    const accept = (out: string) =>
      own.call('answer', { question: question as number, answer: 'yes', out }, { signal: bob.signal });
    for (const odd of ['second', '', '/a\0b']) await expect(accept(odd)).rejects.toMatchObject({ code: 'USAGE' });
    const free = await own.call('freeSpace', { path: '~/second/not/there' }, { signal: bob.signal });
    expect(free.bytes).toBeGreaterThan(0);
    await accept('~/second');
    expect(await bob.state(id, 'done')).toMatchObject({ place: sandbox.path('second') });
    expect(await equal('second', 'small')).toBe(true);
    expect(existsSync(sandbox.path('first'))).toBe(false);
  });

  it('see nearby senders, but not themselves', async () => {
    const { id } = await alice.send({ paths: [sandbox.path('small')] });
    await mkdir(sandbox.path('shared'));
    const { share } = await (await alice.own()).call('addShare', { path: '~/shared' }, { signal: alice.signal });
    const nearby = async (daemon: OwnDaemon) => {
      const found: unknown[] = [];
      for await (const sender of (await daemon.own()).stream('nearby', {}, { signal: daemon.signal }))
        found.push(sender);
      return found;
    };
    const there = { path: 'local', address: expect.stringMatching(/:\d+$/) };
    expect(await nearby(bob)).toEqual([there, there]);
    expect(await nearby(alice)).toEqual([]);
    await (await alice.own()).call('endShare', { share: share?.name ?? '' }, { signal: alice.signal });
    await alice.control(id, 'cancel');
  });

  it('run their sends one after the other', async () => {
    const one = await alice.send({ paths: [sandbox.path('big')], reach: SLOW });
    const other = await alice.send({ paths: [sandbox.path('small')] });
    const first = await bob.receive({ code: one.code, out: sandbox.path('one'), yes: true });
    await alice.state(one.id, 'running');
    const second = await bob.receive({ code: other.code, out: sandbox.path('other'), yes: true });
    await alice.until((event) => event.transfer === other.id && event.state === 'queued' && event.sessions === 1);
    await bob.state(second, 'paused');
    // A send that is moved to the front goes first.
    await alice.control(other.id, 'first');
    await bob.state(second, 'done');
    await bob.state(first, 'done');
    const { event } = await bob.command('history', '--limit', '2');
    expect(event.entries).toMatchObject([{ what: 'small' }, { what: 'big' }]);
    expect(await equal('one', 'big')).toBe(true);
  });

  it('let a paused or unanswered receiver delay its own send only', async () => {
    const paths = [sandbox.path('big')];
    const paused = await alice.send({ paths, reach: SLOW });
    const asked = await alice.send({ paths });
    const other = await alice.send({ paths: [sandbox.path('small')] });
    const first = await bob.receive({ code: paused.code, out: sandbox.path('held'), yes: true });
    await alice.state(paused.id, 'running');
    await bob.control(first, 'pause');
    await alice.until(
      ({ transfer, state, pausedBy }) => transfer === paused.id && state === 'paused' && pausedBy === 'peer',
    );
    const second = await bob.receive({ code: asked.code, out: sandbox.path('unanswered') });
    const question = await bob.until(({ event, transfer }) => event === 'question' && transfer === second);
    await bob.state(await bob.receive({ code: other.code, out: sandbox.path('unheld'), yes: true }), 'done');
    const own = await bob.own();
    await own.call('answer', { question: question.question as number, answer: 'yes' }, { signal: bob.signal });
    await bob.state(second, 'done');
    await bob.control(first, 'resume');
    await bob.state(first, 'done');
    expect(await equal('held', 'big')).toBe(true);
  });

  it('pause, resume, cancel and retry', async () => {
    const { id, code } = await alice.send({ paths: [sandbox.path('big')], reach: SLOWER });
    const receiver = await bob.receive({ code, out: sandbox.path('paused'), yes: true, patienceMs: 0 });
    await alice.state(id, 'running');
    expect((await alice.command('transfers', 'pause', `${id}`)).event).toMatchObject({ state: 'paused' });
    await bob.state(receiver, 'paused');
    expect(await alice.control(id, 'resume')).toMatchObject({ state: 'running' });
    expect(await alice.control(id, 'cancel')).toMatchObject({ state: 'cancelled' });
    expect(await bob.state(receiver, 'cancelled')).toMatchObject({
      error: { code: 'SESSION_CLOSED', message: expect.stringMatching(/cancelled/) },
    });
    expect(await alice.control(id, 'retry')).toMatchObject({ state: 'waiting' });
    await alice.until((event) => event.transfer === id && event.code === code);
    await bob.control(receiver, 'retry');
    await bob.state(receiver, 'done');
    expect(await equal('paused', 'big')).toBe(true);
    await expect(alice.control(999, 'cancel')).rejects.toMatchObject({ code: 'TRANSFER_UNKNOWN' });
  });
});

describe('two daemons that save each other as contacts', () => {
  it('do so by --save in the background, unlocked if need be', async () => {
    const [ann, ben] = await Promise.all(['ann', 'ben'].map((name) => OwnDaemon.start(sandbox, name)));
    if (ann === undefined || ben === undefined) throw new Error('There are no daemons.');
    await writeFile(sandbox.path('words'), 'correct horse battery staple\n');
    const locked = await ben.command('id', 'passphrase', '--new-passphrase-file', sandbox.path('words'));
    expect(locked.exit).toBe(0);
    const sent = await ann.order('send', 'small', '--save', 'Ben', ...LISTEN);
    const receiving = ['receive', sent.code as string, '--yes', '--out', 'kept', '--save', 'Ann'];
    expect((await ben.command(...receiving, '--background')).event).toMatchObject({ code: 'IDENTITY_LOCKED' });
    const received = await ben.order(...receiving, '--passphrase-file', sandbox.path('words'));
    await Promise.all([ben.state(received.id, 'done'), ann.state(sent.id, 'done')]);
    for (const [daemon, name] of [
      [ann, 'Ben'],
      [ben, 'Ann'],
    ] as const) {
      const { contacts } = await (await daemon.own()).call('contacts', {}, { signal: daemon.signal });
      expect(contacts.map((contact) => contact.name)).toEqual([name]);
    }
  });
});

describe('one daemon', () => {
  it('is the only one for its configuration directory', async () => {
    const second = await sandbox.start(['daemon', '--json', '--config', 'alice']);
    expect(await second.ended).toBe(1);
    expect(second.events()).toMatchObject([{ event: 'error', code: 'DAEMON_RUNNING' }]);
    expect((await alice.command('status')).event).toMatchObject({ pid: alice.running.pid });
  });

  it('is found through a symlink and from another runtime directory, as from cron', async () => {
    await symlink('alice', sandbox.path('link'));
    await mkdir(sandbox.path('run-cron'), { mode: 0o700 });
    const env = { XDG_RUNTIME_DIR: sandbox.path('run-cron') };
    const { pid } = alice.running;
    for (const [config, options] of [['link', {}] as const, ['alice', { env }] as const, ['link', { env }] as const]) {
      const [second, status] = await Promise.all([
        sandbox.start(['daemon', '--json', '--config', config], options),
        sandbox.start(['status', '--json', '--config', config], options),
      ]);
      await status.until('status');
      expect(status.events()).toMatchObject([{ event: 'status', pid }]);
      expect(await second.ended).toBe(1);
      const message = expect.stringContaining(`process ${pid}, at ${alice.socket}`);
      expect(second.events()).toMatchObject([{ event: 'error', code: 'DAEMON_RUNNING', message }]);
    }
  });

  it('is started on demand, once for all callers, and stopped', async () => {
    const both = await Promise.all(
      ['small', 'big'].map(async (path) => {
        const running = await sandbox.start(['send', path, '--background', '--json', '--config', 'carol', ...LISTEN]);
        expect(await running.ended).toBe(0);
        return running.events()[0];
      }),
    );
    expect(both.map((event) => event?.id).sort()).toEqual([1, 2]);
    const stop = async () => {
      const running = await sandbox.start(['stop', '--json', '--config', 'carol']);
      return [await running.ended, running.events()[0]];
    };
    expect(await stop()).toEqual([0, { event: 'stopped', ran: true, unfinished: 2 }]);
    expect(await stop()).toEqual([0, { event: 'stopped', ran: false, unfinished: 0 }]);
    const status = await sandbox.start(['status', '--json', '--config', 'carol']);
    expect(await status.ended).toBe(4);
    expect(status.events()).toMatchObject([{ event: 'error', code: 'DAEMON_UNREACHABLE' }]);
  });

  it('starts with lists damaged by hand, restores the rest, and says where the damaged ones are kept', async () => {
    const config = sandbox.path('mended');
    const daemon = await OwnDaemon.start(sandbox, 'mended');
    const { id, code } = await daemon.send({ paths: [sandbox.path('small')] });
    daemon.running.kill();
    await daemon.running.ended;
    const lists = ['transfers', 'shares', 'mounts'].map((name) => `${config}/state/${name}.json`);
    const [transfers = ''] = lists;
    const kept = JSON.parse(await readFile(transfers, 'utf8'));
    await writeFile(transfers, JSON.stringify({ ...kept, entries: [null, {}, ...kept.entries] }));
    for (const list of lists.slice(1)) await writeFile(list, '{"v":1,"next":1,"transfers":[null]}');
    await daemon.replace();
    await daemon.until((event) => event.transfer === id && event.code === code && event.state === 'waiting');
    expect(daemon.running.stderr).toMatch(/transfers\.json\.damaged-\d+/);
    expect((await readdir(`${config}/state`)).filter((name) => name.includes('.damaged-'))).toHaveLength(3);
    expect((await daemon.command('stop')).event).toMatchObject({ unfinished: 1 });
  });

  it('replaces one that was killed, despite its old socket, and resumes its work', async () => {
    const { code, id } = await alice.send({ paths: [sandbox.path('small')] });
    await alice.replace();
    await alice.until((event) => event.transfer === id && event.code === code && event.state === 'waiting');
    await bob.state(await bob.receive({ code, out: sandbox.path('later'), yes: true }), 'done');
    expect(await equal('later', 'small')).toBe(true);
  });

  it('continues a receive from the received part after it was killed', async () => {
    const { sender } = await sandbox.send(['big', '--limit', '5M']);
    const id = await bob.receive({ code: CODE, out: sandbox.path('not-there') });
    const { question } = await bob.until(({ event }) => event === 'question');
    const answer = { question: question as number, answer: 'yes', out: sandbox.path('cut') };
    await (await bob.own()).call('answer', answer, { signal: bob.signal });
    await bob.until(({ event, bytes }) => event === 'progress' && (bytes as number) > 5 * MIB);
    await bob.replace();
    const done = await bob.until(({ event, transfer }) => event === 'done' && transfer === id);
    expect(done.resumedBytes).toBeGreaterThan(2 * MIB);
    expect(await sender.ended).toBe(0);
    expect(await equal('cut', 'big')).toBe(true);
  });
});

describe('the systemd unit', () => {
  it.runIf(existsSync('/usr/bin/systemd-analyze'))('is accepted by systemd, and needs no PATH', async () => {
    const unit = sandbox.path('keibidrop-daemon.service');
    const printed = await sandbox.start(['daemon', '--systemd', '--config', 'a "100%" $HOME'], { stdoutTo: unit });
    expect(await printed.ended).toBe(0);
    const text = await readFile(unit, 'utf8');
    expect(text).toContain(
      `ExecStart=${process.execPath} ${PROGRAM} daemon --config "${sandbox.home}/a \\"100%%\\" $$HOME"\n`,
    );
    expect(text).not.toContain('/usr/bin/env');
    const checked = await sandbox.start([], { command: ['systemd-analyze', 'verify', '--user', unit] });
    expect([await checked.ended, checked.stderr]).toEqual([0, '']);
  });
});

describe('the contacts of a daemon', () => {
  it('are sent to its clients after every change by any client', async () => {
    const { signal } = alice;
    const own = await alice.own();
    const { fingerprint } = await (await bob.own()).call('identity', {}, { signal });
    const { contact } = await own.call('addContact', { name: 'Bob', fingerprint }, { signal });
    expect(contact).toMatchObject({ name: 'Bob', fingerprint, verified: false, rule: 'ask' });
    const named = (name: string) =>
      alice.until((event) => event.event === 'contacts' && JSON.stringify(event.contacts).includes(name));
    const renamed = named('Robert');
    expect((await alice.command('contacts', 'rename', 'Bob', 'Robert')).exit).toBe(0);
    await renamed;
    const change = { name: 'Robert', rule: 'accept', folder: sandbox.path('inbox'), verified: true };
    const { contact: changed } = await own.call('changeContact', change, { signal });
    expect(changed).toMatchObject({ rule: 'accept', folder: sandbox.path('inbox'), verified: true });
    const { fingerprint: ours } = await own.call('identity', {}, { signal });
    await expect(own.call('addContact', { name: 'Me', fingerprint: ours }, { signal })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('your own'),
    });
    expect((await alice.command('contacts', 'add', 'Me', ours)).event).toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('your own'),
    });
    for (const odd of ['', '/proc/nope', sandbox.path('small')]) {
      await expect(
        own.call('changeContact', { name: 'Robert', rule: 'accept', folder: odd }, { signal }),
      ).rejects.toMatchObject({ code: 'USAGE' });
      expect(await alice.command('contacts', 'rule', 'Robert', 'accept', odd)).toMatchObject({ exit: 2 });
    }
    await expect(own.call('changeContact', { name: 'Robert', rule: 'accept' }, { signal })).rejects.toMatchObject({
      code: 'USAGE',
    });
    await own.call('removeContact', { name: 'Robert' }, { signal });
    await expect(own.call('removeContact', { name: 'Robert' }, { signal })).rejects.toMatchObject({
      code: 'CONTACT_UNKNOWN',
    });
  });
});

describe('many clients', () => {
  it('get the same events from the current state on, 200 at once; a killed client affects no other', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => alice.client()));
    const killed = await sandbox.start(['send', 'small', '--background', '--json', '--config', 'alice', ...LISTEN]);
    const id = (await killed.until('transfer')).id as number;
    killed.kill();
    const seen = await Promise.all(
      clients.map((client) => alice.until((event) => event.transfer === id && event.event === 'transfer', client)),
    );
    expect(new Set(seen.map(({ code }) => code)).size).toBe(1);
    const gone = clients.map((client) =>
      alice.until(({ event, transfer }) => event === 'removed' && transfer === id, client),
    );
    expect(await alice.control(id, 'cancel')).toMatchObject({ state: 'cancelled' });
    await alice.control(id, 'remove');
    expect(await Promise.all(gone)).toHaveLength(200);
    for (const client of clients) client.close();
  });
});

describe('another user of the machine', () => {
  it.runIf(IS_ROOT)("can neither connect nor read the daemon's files", async () => {
    await alice.command('ui');
    await alice.command('id', 'show');
    const { event } = await alice.command('status');
    const secrets = ['identity', 'identity.key'].map((name) => sandbox.path('alice', name));
    const state = `${event.stateDir}/transfers.json`;
    const files = [alice.socket, alice.socket.replace(/sock$/, 'html'), state, ...secrets];
    for (const file of files) {
      expect((await stat(file)).mode & 0o077, file).toBe(0);
      // The directories around the file are closed, too; this opens them to test the file itself.
      run('chmod', '0711', sandbox.path('run-0'), sandbox.path('run-0', 'keibidrop'));
    }
    const script = `
      const [socket, ...files] = process.argv.slice(1);
      const { connect } = require('node:net');
      for (const file of files) try { require('node:fs').readFileSync(file); console.log('read', file); } catch (e) { console.log(e.code); }
      connect(socket).on('connect', () => { console.log('connected'); process.exit(); }).on('error', (e) => console.log(e.code));
    `;
    const other = await sandbox.start([], { command: [process.execPath, '-e', script, ...files], uid: NOBODY });
    await other.ended;
    run('chmod', '0700', sandbox.path('run-0'), sandbox.path('run-0', 'keibidrop'));
    expect(other.stdout.trim().split('\n')).toEqual(files.map(() => 'EACCES'));
  });
});
