// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecordedIo, type RecordedIo, type RecordedIoOptions } from '../test/recorded-io.ts';
import { createScriptedPeer, DONE, OFFER } from '../test/scripted-peer.ts';
import { runCommandLine } from './command-line.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-cli-'));
});
afterAll(() => rm(directory, { recursive: true }));

type Script = Parameters<typeof createScriptedPeer>[0];

async function run(argv: string[], script: Script = {}, options: RecordedIoOptions = {}) {
  const env = { KD_CONFIG_DIR: join(directory, 'no-config'), ...options.env };
  const io: RecordedIo = createRecordedIo({ cwd: directory, ...options, env });
  const { peer, asked, answers } = createScriptedPeer(script);
  const exit = await runCommandLine(argv, io, async () => peer);
  return { exit, asked, answers, questions: io.questions, ...io.printed };
}

const RECEIVE = ['receive', '7-guitar-pencil'];
const connected = { type: 'connected', path: 'local', suite: 'aes-256-gcm', peer: 'bob', session: 1 } as const;

describe('send', () => {
  it('passes all options to the peer', async () => {
    const argv = [
      'send',
      '.',
      '--code',
      '7-guitar-pencil',
      '--insecure-code',
      '--listen',
      '127.0.0.1:0',
      '--receivers',
      '0',
    ];
    const { asked } = await run([
      ...argv,
      '--limit',
      '10K',
      '--suite',
      'aes-256-gcm',
      '--discovery',
      'off',
      '--direct-only',
    ]);
    expect(asked.send).toMatchObject({
      paths: ['.'],
      stdin: false,
      code: { text: '7-guitar-pencil' },
      wordCount: 2,
      insecureCode: true,
      listen: { host: '127.0.0.1', port: 0, orAnyPort: false },
      receivers: 0,
      suite: 'aes-256-gcm',
      limitBytesPerSecond: 10_240,
      reach: { discovery: 'off', directOnly: true, relayOnly: false },
    });
  });

  it('prints the code, the line to paste, and what was sent', async () => {
    const { exit, stdout } = await run(['send', '.'], { events: [{ type: 'code', code: '7-guitar-pencil' }] });
    expect(exit).toBe(0);
    expect(stdout).toBe(
      'Code: 7-guitar-pencil\n' +
        'On the other computer: keibidrop receive 7-guitar-pencil\n' +
        'Sent 2 files, 3.0 MB in 1.5 s (2.0 MB/s).\n',
    );
  });

  it('prints nothing but the code if quiet', async () => {
    const events = [{ type: 'code', code: '7-a-b' }, { type: 'waiting', host: '::', port: 1 }, connected] as const;
    const { stdout, stderr } = await run(['send', '.', '--quiet'], { events: [...events] });
    expect({ stdout, stderr }).toEqual({ stdout: 'Code: 7-a-b\n', stderr: '' });
  });

  it('reports missing paths before it waits for a receiver', async () => {
    const { exit, stderr, asked } = await run(['send', '.', 'no\u001bsuch', 'neither']);
    expect(exit).toBe(1);
    expect(stderr).toContain('"no\\x1bsuch", "neither"');
    expect(asked.send).toBeUndefined();
  });

  it('keeps the numbers of several receivers apart', async () => {
    const second = { ...connected, peer: 'carol', session: 2 };
    const progress = {
      type: 'progress',
      files: 1,
      bytes: 50,
      totalFiles: 2,
      totalBytes: 100,
      totalsFinal: true,
    } as const;
    const events = [
      connected,
      second,
      { ...progress, session: 1, bytesPerSecond: 10 },
      { ...progress, session: 2, bytesPerSecond: 15 },
      { type: 'receiverDone', ...DONE, failed: 0, session: 1, peer: 'bob' } as const,
    ];
    const json = await run(['send', '.', '--receivers', '2', '--json'], { events });
    const lines = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ receiver }) => receiver)).toEqual([1, 2, 1, 2, 1]);
  });

  it('warns of a wrong code', async () => {
    const { stderr } = await run(['send', '.'], { events: [{ type: 'wrongCode', remaining: 2 }] });
    expect(stderr).toBe('Warning: A wrong code was tried; after 2 more the offer ends.\n');
  });

  it.each([
    ['SESSION_LOST', 'left before it had everything.'],
    ['OFFER_DECLINED', 'declined the offer.'],
    ['TRANSFER_DISK_FULL', 'failed: why'],
  ] as const)('reports a lost receiver: %s', async (code, text) => {
    const lost = {
      type: 'receiverLost',
      session: 1,
      peer: '\u001b[2Jbob',
      code,
      message: 'why',
      mayReturn: false,
    } as const;
    const { stderr } = await run(['send', '.', '--quiet'], { events: [connected, lost] });
    expect(stderr).toBe(`Warning: \\x1b[2Jbob ${text}\n`);
  });

  it('forwards --relay-only', async () => {
    const { asked } = await run(['send', '.', '--relay-only']);
    expect(asked.send?.reach).toMatchObject({ directOnly: false, relayOnly: true });
  });
});

describe('bench', () => {
  const figures = [{ type: 'limit', part: 'link', bytesPerSecond: 1e6, wholeBytesPerSecond: 1e6 }] as const;

  it('passes all options to the peer, without the speed limit of the settings', async () => {
    const alone = await run(['bench', '--dir', 'd', '--size', '8M', '--suite', 'aes-256-gcm']);
    const dir = join(directory, 'd');
    expect(alone.asked.benchAlone).toMatchObject({ dir, size: 2 ** 23, suite: 'aes-256-gcm' });
    const waiting = await run(['bench', '--wait', '--listen', '127.0.0.1:0', '--code-length', '3']);
    expect(waiting.asked.waitForBench).toMatchObject({
      dir: directory,
      size: 2 ** 28,
      wordCount: 3,
      listen: { port: 0 },
    });
    const against = await run(['bench', '7', 'guitar', 'pencil', '--connect', 'h:1', '--discovery', 'off']);
    expect(against.asked.benchAgainst).toMatchObject({
      code: { text: '7-guitar-pencil' },
      connect: { host: 'h', port: 1 },
      reach: { discovery: 'off' },
    });
  });

  it('prints the command for the other side, and a line when it was served', async () => {
    const { stdout } = await run(['bench', '--wait'], { events: [{ type: 'code', code: '7-guitar-pencil' }] });
    expect(stdout).toBe(
      'Code: 7-guitar-pencil\n' +
        'On the other computer: keibidrop bench 7-guitar-pencil\n' +
        'Served a bench of 3.0 MB; nothing was stored.\n',
    );
  });

  it('prints the limiting part, and errors like every command', async () => {
    const people = await run(['bench', '7-guitar-pencil'], { figures: [...figures] });
    expect(people).toMatchObject({ exit: 0, stdout: '\nThe link is the limit: 1.0 MB/s.\n' });
    const error = new KeibiError('CODE_WRONG');
    const failed = await run(['bench', '7-guitar-pencil', '--json'], { events: [connected], error });
    expect(failed.exit).toBe(3);
    expect(
      failed.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event),
    ).toEqual(['connected', 'error']);
  });
});

describe('receive', () => {
  it('asks with escaped names before the peer may write', async () => {
    const offer = { ...OFFER, peer: 'al\u001b[31mice', names: ['a\nb', 'c'], nameCount: 5 };
    const { stderr, questions, asked, exit } = await run(RECEIVE, { offer }, { terminal: true, answers: ['y'] });
    expect(stderr).toContain(
      'al\\x1b[31mice offers 2 files, 1 folder, 3.0 MB  (local, aes-256-gcm)\n  a\\nb\n  c\n  and 3 more\n',
    );
    expect(stderr).toMatch(/^into .*keibidrop-cli-\w+, where .* are free\.$/m);
    expect(questions).toEqual(['Receive them? [y/N] ']);
    expect({ accepted: asked.accepted, exit }).toEqual({ accepted: true, exit: 0 });
  });

  it.each(['', 'n', 'yeah', 'no'])('takes the answer "%s" as no', async (answer) => {
    const error = new KeibiError('OFFER_DECLINED');
    const { asked, exit } = await run(RECEIVE, { error }, { terminal: true, answers: [answer] });
    expect({ accepted: asked.accepted, exit }).toEqual({ accepted: false, exit: 3 });
  });

  it.each(['y', 'Y', ' yes '])('takes the answer "%s" as yes', async (answer) => {
    const { asked } = await run(RECEIVE, {}, { terminal: true, answers: [answer] });
    expect(asked.accepted).toBe(true);
  });

  it('warns of an offer that does not fit', async () => {
    const { stderr } = await run(RECEIVE, { offer: { ...OFFER, bytes: 2 ** 53 } }, { terminal: true, answers: ['n'] });
    expect(stderr).toMatch(/more than the free space/);
  });

  it('does not ask with --yes', async () => {
    const { questions, asked, stdout } = await run([...RECEIVE, '--yes', '--out', 'in']);
    expect(questions).toEqual([]);
    expect(asked.receive).toMatchObject({ confirm: undefined, out: join(directory, 'in'), collisions: 'rename' });
    expect(stdout).toBe(`Received 2 files, 3.0 MB into ${join(directory, 'in')} in 1.5 s (2.0 MB/s).\n`);
  });

  it.each([
    ['without a terminal', RECEIVE, false],
    ['with --json', [...RECEIVE, '--json'], true],
    ['with --stdout and no terminal', [...RECEIVE, '--stdout'], false],
    ['with --ask and no terminal', [...RECEIVE, '--yes', '--ask'], false],
  ])('refuses to continue %s', async (_, argv, terminal) => {
    const { exit, asked, stdout, stderr } = await run(argv, {}, { terminal });
    expect(exit).toBe(2);
    expect(asked.receive).toBeUndefined();
    expect(stdout + stderr).toMatch(/add --yes|--overwrite/);
  });

  it('asks about each collision until an answer is for all', async () => {
    const script = { collisions: ['a', 'b', 'c', 'd', 'e'] };
    const options = { terminal: true, answers: ['y', 'o', 'what?', 'r', '', 'S'] };
    const { answers, questions } = await run([...RECEIVE, '--ask'], script, options);
    expect(answers).toEqual(['overwrite', 'rename', 'skip', 'skip', 'skip']);
    expect(questions).toHaveLength(6);
  });

  it('prints a text and no summary', async () => {
    const script = { events: [{ type: 'text', text: 'hi\u001b[2J' } as const], result: { text: 'hi\u001b[2J' } };
    expect((await run([...RECEIVE, '--yes'], script)).stdout).toBe('hi\u001b[2J');
    expect((await run([...RECEIVE, '--yes'], script, { terminal: true })).stdout).toBe('hi\\x1b[2J\n');
  });

  it('keeps standard output for the file with --stdout', async () => {
    const { stdout, stderr, asked } = await run([...RECEIVE, '--yes', '--stdout']);
    expect(stdout).toBe('');
    expect(stderr).toBe('Received 2 files, 3.0 MB in 1.5 s (2.0 MB/s).\n');
    expect(asked.receive?.toStdout).toBe(true);
  });

  it('counts files that existed already', async () => {
    const { stdout } = await run([...RECEIVE, '--yes'], { result: { skipped: 12, resumedBytes: 1e6 } });
    expect(stdout).toContain('\n1.0 MB of it arrived in an earlier run.\n12 files already existed and were skipped.\n');
  });

  it('lists at most twenty failures with their reasons, and exits with 1', async () => {
    const failed = Array.from({ length: 23 }, (_, i) => ({
      path: `f\r${i}`,
      code: 'TRANSFER_SOURCE_UNREADABLE' as const,
      message: 'cannot be read.',
    }));
    const { exit, stderr } = await run([...RECEIVE, '--yes'], { result: { failed } });
    expect(exit).toBe(1);
    expect(stderr).toContain('23 entries failed:\n  f\\r0: cannot be read.\n');
    expect(stderr).toMatch(/f\\r19: cannot be read\.\n {2}and 3 more\n$/);
  });

  it('ends a --json run that is not complete with one error line', async () => {
    const entry = (code: 'TRANSFER_SOURCE_CHANGED' | 'TRANSFER_DISK_FULL') => ({ path: 'a', code, message: 'm' });
    const lines = async (...codes: Parameters<typeof entry>[0][]) => {
      const failed = codes.map(entry);
      const events = [{ type: 'done', ...DONE, failed: failed.length } as const];
      const { stdout, exit } = await run([...RECEIVE, '--yes', '--json'], { events, result: { failed } });
      return [
        exit,
        ...stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ];
    };
    const error = { event: 'error', ...DONE };
    expect(await lines('TRANSFER_DISK_FULL')).toEqual([1, { ...error, code: 'TRANSFER_DISK_FULL', message: 'a: m' }]);
    expect(await lines('TRANSFER_DISK_FULL', 'TRANSFER_SOURCE_CHANGED')).toEqual([
      1,
      { ...error, code: 'TRANSFER_INCOMPLETE', message: '2 entries failed; the first is a: m' },
    ]);
  });
});

describe('exit codes', () => {
  it.each([
    ['CODE_MALFORMED', 2],
    ['CODE_WRONG', 3],
    ['FRAME_AUTH_FAILED', 3],
    ['PEER_UNREACHABLE', 4],
    ['SESSION_LOST', 5],
    ['TRANSFER_DISK_FULL', 1],
    ['INTERNAL', 70],
  ] as const)('%s ends with %d, as text or as one JSON line', async (code, exit) => {
    const error = new KeibiError(code);
    const people = await run([...RECEIVE, '--yes'], { error });
    expect(people).toMatchObject({ exit, stdout: '' });
    expect(people.stderr).toContain(`keibidrop: ${error.message}\n`);
    const program = await run([...RECEIVE, '--yes', '--json'], { error });
    expect(program).toMatchObject({ exit, stderr: '' });
    expect(JSON.parse(program.stdout)).toEqual({ event: 'error', code, message: error.message });
  });

  it('reports any other error as a bug', async () => {
    const { exit, stderr } = await run([...RECEIVE, '--yes'], { error: new TypeError('x is not a function') });
    expect(exit).toBe(70);
    expect(stderr).toMatch(/x is not a function: This is a bug in KeibiDrop.*\n.*\n +at /);
  });

  it('is 130 after an interrupt, whatever error followed', async () => {
    const io = createRecordedIo({ cwd: directory, env: { KD_CONFIG_DIR: directory } });
    io.interrupt(new KeibiError('CANCELLED'));
    const { peer } = createScriptedPeer({ error: new Error('socket closed') });
    expect(await runCommandLine([...RECEIVE, '--yes', '--json'], io, async () => peer)).toBe(130);
    expect(JSON.parse(io.printed.stdout)).toMatchObject({ event: 'error', code: 'CANCELLED' });
  });

  it('lists every address that could not be reached', async () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:9');
    const attempt = {
      transport: 'direct',
      address: '127.0.0.1:9',
      error: new KeibiError('PEER_UNREACHABLE', 'm', { cause }),
    };
    const error = new KeibiError('PEER_UNREACHABLE', undefined, { detail: { attempts: [attempt] } });
    const { stderr } = await run([...RECEIVE, '--yes'], { error });
    expect(stderr).toContain('\n  127.0.0.1:9 (direct): connect ECONNREFUSED 127.0.0.1:9\n');
    const place = { transport: 'local', host: '::1', port: 9, error: new Error('no answer') };
    const other = new KeibiError('RENDEZVOUS_NOT_FOUND', undefined, { detail: { attempts: [place] } });
    expect((await run([...RECEIVE, '--yes'], { error: other })).stderr).toContain('\n  [::1]:9 (local): no answer\n');
  });

  it('shows the reason of an error from the daemon', async () => {
    const plain = { code: 'PEER_UNREACHABLE', message: 'no route' } as unknown as Error;
    const attempt = { transport: 'direct', address: 'h:9', error: plain };
    const error = new KeibiError('PEER_UNREACHABLE', undefined, { detail: { attempts: [attempt] } });
    expect((await run([...RECEIVE, '--yes'], { error })).stderr).toContain('\n  h:9 (direct): no route\n');
  });

  it.each([
    [[], 2],
    [['--help'], 0],
    [['help', 'send'], 0],
    [['--version'], 0],
    [['sned'], 2],
  ] as const)('%j exits with %d', async (argv, exit) => expect(await run([...argv])).toMatchObject({ exit }));
});

describe('doctor', () => {
  const checks = [
    { name: 'Node.js', status: 'ok', text: '20.20.2' } as const,
    { name: 'BBR', status: 'note', text: 'is not\nthere' } as const,
  ];
  const bad = { name: 'port', status: 'failed', text: 'EACCES' } as const;

  it('prints each check and exits with 0 if none failed', async () => {
    const { exit, stdout } = await run(['doctor'], { checks });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^ok {4}configuration +.*config\.toml does not exist, so defaults apply$/m);
    expect(stdout).toContain(
      `ok    Node.js            20.20.2\nnote  BBR                is not\n${' '.repeat(25)}there\n`,
    );
    expect(stdout).toMatch(/\nReady to send and receive\.\n$/);
  });

  it('exits with 1 if one failed', async () => {
    const { exit, stdout } = await run(['doctor', '--json'], { checks: [...checks, bad] });
    expect(exit).toBe(1);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.slice(-2)).toEqual([
      { event: 'check', ...bad },
      { event: 'doctor', ok: false, failed: 1 },
    ]);
  });

  it('reports a bad configuration and runs the other checks', async () => {
    const { exit, stdout } = await run(['doctor'], { checks }, { env: { KD_LISTEN: 'nowhere' } });
    expect(exit).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}configuration +KD_LISTEN must be HOST:PORT/m);
    expect(stdout).toContain('Node.js');
  });
});
