// SPDX-License-Identifier: MPL-2.0
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { start } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'keibidrop-process-'));
  await writeFile(join(home, 'a.txt'), 'content');
});
afterEach(() => rm(home, { recursive: true }));

const LISTEN = ['--listen', '127.0.0.1:0'];
const CODE = '7-guitar-pencil';
const events = (stdout: string): { event: string; [key: string]: unknown }[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('an interrupt', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s ends a sender cleanly with 130', async (signal) => {
    const sender = start(['send', 'a.txt', '--json', ...LISTEN], home);
    await sender.shows(/"waiting"/);
    sender.child.kill(signal);
    expect(await sender.ended).toBe(130);
    expect(events(sender.printed.stdout).at(-1)).toMatchObject({ event: 'error', code: 'CANCELLED' });
    expect(await readdir(join(home, 'keibidrop', 'senders'))).toEqual([]);
  });
});

describe('a relay', () => {
  it('prints where it listens, and ends with 0 when stopped', async () => {
    const relay = start(['relay', ...LISTEN], home);
    const [, port] = await relay.shows(/^Listening on 127\.0\.0\.1, port (\d+)\.$/m);
    await relay.shows(new RegExp(`^Peers use it with: KD_RENDEZVOUS=127\\.0\\.0\\.1:${port}$`, 'm'));
    relay.child.kill('SIGTERM');
    expect(await relay.ended).toBe(0);
    const log = relay.printed.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    expect(log).toEqual(['listening', 'draining', 'ended']);
  });

  it('prints the same as events with --json, and nothing else with --quiet', async () => {
    const relay = start(['relay', '--json', '--quiet', ...LISTEN], home);
    await relay.shows(/"listening"/);
    relay.child.kill('SIGINT');
    expect(await relay.ended).toBe(0);
    expect(events(relay.printed.stdout)).toEqual([
      { event: 'listening', host: '127.0.0.1', port: expect.any(Number) },
      { event: 'ended', joined: 0, bytes: 0 },
    ]);
    expect(relay.printed.stderr).toBe('');
  });
});

it('continues when the reader of its output closes', async () => {
  const sender = start(['send', 'a.txt', '--code', CODE, ...LISTEN], home);
  await sender.shows(/Code: /);
  sender.child.stdout?.destroy();
  const receiver = start(['receive', CODE, '--yes', '--out', 'in'], home);
  expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 0, sender: 0 });
});

describe('a transfer between two processes', () => {
  it('prints the events of docs/cli.md in order on both sides with --json', async () => {
    const sender = start(['send', 'a.txt', '--json', '--verbose', '--code', CODE, ...LISTEN], home);
    const [, port] = await sender.shows(/"waiting".*"port":(\d+)/);
    const argv = ['receive', CODE, '--json', '--yes', '--verbose', '--connect', `127.0.0.1:${port}`, '--out', 'in'];
    const receiver = start(argv, home);
    expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 0, sender: 0 });

    const got = events(receiver.printed.stdout).filter(({ event }) => event !== 'progress');
    expect(got.map(({ event }) => event)).toEqual(['connected', 'offer', 'file', 'done']);
    expect(got[0]).toEqual({ event: 'connected', path: 'local', suite: expect.any(String), peer: expect.any(String) });
    expect(got[1]).toEqual({ event: 'offer', files: 1, bytes: 7 });
    expect(got[2]).toEqual({ event: 'file', path: 'a.txt' });
    const done = { event: 'done', files: 1, bytes: 7, skipped: 0, resumedBytes: 0, seconds: expect.any(Number) };
    expect(got[3]).toEqual(done);
    const sent = events(sender.printed.stdout);
    expect(sent.slice(0, 2).map(({ event }) => event)).toEqual(['code', 'waiting']);
    expect(sent.map(({ event }) => event)).toEqual(expect.arrayContaining(['connected', 'offer', 'progress']));
    expect(sent.at(-1)).toEqual(done);
    expect(receiver.printed.stderr + sender.printed.stderr).toBe('');
    expect(await readFile(join(home, 'in', 'a.txt'), 'utf8')).toBe('content');
  });

  it('prints the code and the result as text', async () => {
    const sender = start(['send', 'a.txt', ...LISTEN], home);
    const [, code = ''] = await sender.shows(/^On the other computer: keibidrop receive (\S+)$/m);
    const receiver = start(['receive', code, '--yes', '--out', 'in'], home);
    expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 0, sender: 0 });
    expect(sender.printed.stdout).toMatch(/^Sent 1 file, 7 B in \S+ s \(.*\/s\)\.$/m);
    expect(receiver.printed.stdout).toMatch(new RegExp(`^Received 1 file, 7 B into ${join(home, 'in')} in .*\\.\n$`));
  });

  it('prints a received text alone on standard output', async () => {
    const sender = start(['send', '--text', 'two\nlines', '--code', CODE, '--quiet', ...LISTEN], home);
    await sender.shows(/Code/);
    const receiver = start(['receive', CODE, '--yes'], home);
    expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 0, sender: 0 });
    expect(receiver.printed.stdout).toBe('two\nlines');
  });

  it('carries standard input to standard output', async () => {
    const stdin = 'x'.repeat(3_000_000);
    const sender = start(['send', '-', '--code', CODE, ...LISTEN], home, { stdin });
    await sender.shows(/Code/);
    const receiver = start(['receive', CODE, '--yes', '--stdout', '--quiet'], home);
    expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 0, sender: 0 });
    expect(receiver.printed.stdout === stdin).toBe(true);
  });

  it('names files that could not be written, exits with 1 on both sides, and delivers the others', async () => {
    await mkdir(join(home, 'dir'));
    for (const name of ['blocked', 'good']) await writeFile(join(home, 'dir', name), name);
    // A non-empty folder blocks the file's path, and --overwrite does not remove folders.
    await mkdir(join(home, 'in', 'dir', 'blocked', 'occupied'), { recursive: true });
    const sender = start(['send', 'dir', '--code', CODE, '--json', ...LISTEN], home);
    await sender.shows(/"waiting"/);
    const receiver = start(['receive', CODE, '--yes', '--overwrite', '--out', 'in'], home);
    expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 1, sender: 1 });
    expect(receiver.printed.stderr).toMatch(/^One entry failed:\n {2}dir\/blocked: .+$/m);
    expect(events(sender.printed.stdout).at(-1)).toMatchObject({
      event: 'error',
      message: expect.stringContaining('dir/blocked'),
    });
    expect(await readFile(join(home, 'in', 'dir', 'good'), 'utf8')).toBe('good');
  });

  it('reports a wrong guess at the sender, which keeps waiting', async () => {
    const sender = start(['send', 'a.txt', '--code', CODE, '--json', ...LISTEN], home);
    await sender.shows(/"waiting"/);
    const wrong = start(['receive', '7-wrong-words', '--yes'], home);
    expect(await wrong.ended).toBe(3);
    expect(wrong.printed.stderr).toMatch(/^keibidrop: The code is wrong\./);
    await sender.shows(/\{"event":"wrongCode","remaining":2\}/);
    const receiver = start(['receive', CODE, '--yes', '--out', 'in'], home);
    expect({ receiver: await receiver.ended, sender: await sender.ended }).toEqual({ receiver: 0, sender: 0 });
  });
});
