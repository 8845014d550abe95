// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Candidate } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { announce, createRegistryTransport, runtimeDirectory } from '../src/index.ts';

const MAILBOX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const HERE = { host: '127.0.0.1', port: 26431 };

let root: string;
let directory: string;
let file: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'keibidrop-registry-'));
  directory = join(root, 'keibidrop');
  file = join(directory, 'senders', `${MAILBOX}.json`);
});
afterEach(() => rm(root, { recursive: true }));

async function find(mailbox = MAILBOX): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const { signal } = new AbortController();
  for await (const candidate of createRegistryTransport({ directory }).find(mailbox, { signal })) found.push(candidate);
  return found;
}

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid as number;
}

async function writeAnnouncement(content: unknown): Promise<void> {
  await mkdir(join(directory, 'senders'), { recursive: true, mode: 0o700 });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}

describe('an announcement', () => {
  it('is found under its own mailbox only, until it is withdrawn', async () => {
    const withdraw = await announce(MAILBOX, HERE, { directory });
    expect(await find()).toEqual([{ transport: 'local', ...HERE }]);
    expect(await find(OTHER)).toEqual([]);
    await withdraw();
    await withdraw();
    expect(await find()).toEqual([]);
    expect(await readdir(join(directory, 'senders'))).toEqual([]);
  });

  it('is one file that only this user can read, in directories that only this user can enter', async () => {
    await announce(MAILBOX, HERE, { directory });
    expect(await readdir(join(directory, 'senders'))).toEqual([`${MAILBOX}.json`]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, 'senders'))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ ...HERE, pid: process.pid });
  });

  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
    ['192.0.2.7', '192.0.2.7'],
  ])('of a sender that listens on %s leads to %s', async (host, reached) => {
    await announce(MAILBOX, { ...HERE, host }, { directory });
    expect(await find()).toMatchObject([{ host: reached }]);
  });

  it('is never seen half written', async () => {
    const looks = Array.from({ length: 50 }, () => find());
    await announce(MAILBOX, HERE, { directory });
    for (const found of await Promise.all(looks)) expect(found.length === 0 || found[0]?.port === HERE.port).toBe(true);
    expect(await find()).toHaveLength(1);
  });

  it('of one sender keeps another from using its number', async () => {
    await announce(MAILBOX, HERE, { directory });
    await expect(announce(MAILBOX, { ...HERE, port: 1 }, { directory })).rejects.toMatchObject({
      code: 'RENDEZVOUS_BUSY',
    });
    await announce(OTHER, { ...HERE, port: 2 }, { directory });
    expect(await find()).toEqual([{ transport: 'local', ...HERE }]);
    expect(await readdir(join(directory, 'senders'))).toHaveLength(2);
  });

  it('succeeds for exactly one of several senders at the same time', async () => {
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map((port) => announce(MAILBOX, { ...HERE, port }, { directory })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(join(directory, 'senders'))).toEqual([`${MAILBOX}.json`]);
  });

  it('is not withdrawn by a former owner', async () => {
    const withdraw = await announce(MAILBOX, HERE, { directory });
    await rm(file);
    await announce(MAILBOX, { ...HERE, port: 7 }, { directory });
    await withdraw();
    expect(await find()).toMatchObject([{ port: 7 }]);
  });
});

describe('the file of a dead sender', () => {
  it('is not found, and is removed', async () => {
    await writeAnnouncement({ ...HERE, pid: await deadPid() });
    expect(await find()).toEqual([]);
    expect(await readdir(join(directory, 'senders'))).toEqual([]);
  });

  it('is replaced by exactly one of several senders, even during searches', async () => {
    const left = { ...HERE, pid: await deadPid() };
    for (let round = 0; round < 30; round++) {
      await writeAnnouncement(left);
      const looks = Array.from({ length: 4 }, () => find());
      const outcomes = await Promise.allSettled(
        [11, 12, 13, 14].map((port) => announce(MAILBOX, { ...HERE, port }, { directory }).then(() => port)),
      );
      await Promise.all(looks);
      const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect((await find()).map(({ port }) => port)).toEqual(winners);
      expect(await readdir(join(directory, 'senders'))).toEqual([`${MAILBOX}.json`]);
      await rm(file);
    }
  });

  it.each([
    ['no JSON', '{"port":'],
    ['an empty file', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a port of 0', { ...HERE, port: 0, pid: process.pid }],
    ['a port over 65535', { ...HERE, port: 65_536, pid: process.pid }],
    ['a port in words', { ...HERE, port: '26431', pid: process.pid }],
    ['no host', { port: 1, pid: process.pid }],
    ['a process group', { ...HERE, pid: -1 }],
    ['process 0', { ...HERE, pid: 0 }],
    ['more than an announcement can be', JSON.stringify({ ...HERE, pid: process.pid, more: 'x'.repeat(2000) })],
  ])('is passed over when it is %s', async (_what, content) => {
    await writeAnnouncement(content);
    expect(await find()).toEqual([]);
  });
});

describe('a directory that others could write to', () => {
  async function make(mode: number): Promise<void> {
    await writeAnnouncement({ ...HERE, pid: process.pid });
    await chmod(directory, mode);
  }

  it.each([0o770, 0o707, 0o755, 0o777])('is refused with mode %o', async (mode) => {
    await make(mode);
    await expect(find()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(announce(OTHER, HERE, { directory })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('is refused one level deeper, too', async () => {
    await make(0o700);
    await chmod(join(directory, 'senders'), 0o777);
    await expect(find()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it.runIf(process.getuid?.() === 0)("is refused when it is another user's", async () => {
    await make(0o700);
    await chown(directory, 12_345, 12_345);
    await expect(find()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(announce(OTHER, HERE, { directory })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('is refused when it is a symlink to a good one', async () => {
    await make(0o700);
    const link = join(root, 'link');
    await symlink(directory, link);
    const { signal } = new AbortController();
    const finding = createRegistryTransport({ directory: link })
      .find(MAILBOX, { signal })
      [Symbol.asyncIterator]()
      .next();
    await expect(finding).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('is refused when it is a file', async () => {
    await writeFile(directory, '');
    await expect(find()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(announce(MAILBOX, HERE, { directory })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('the runtime directory', () => {
  it('is in XDG_RUNTIME_DIR if set, else a directory of this user in the temporary one', () => {
    expect(runtimeDirectory({ XDG_RUNTIME_DIR: '/run/user/7' })).toBe('/run/user/7/keibidrop');
    expect(runtimeDirectory({})).toBe(join(tmpdir(), `keibidrop-${process.getuid?.()}`));
  });

  it('if missing, yields nothing and is not created', async () => {
    expect(await find()).toEqual([]);
    expect(await readdir(root)).toEqual([]);
  });
});
