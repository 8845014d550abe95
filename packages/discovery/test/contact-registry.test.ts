// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpointsHere, registerEndpoint } from '../src/index.ts';

const MAILBOX = 'ab'.repeat(32);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-endpoints-'));
});
afterEach(() => rm(directory, { recursive: true }));

const files = () => readdir(join(directory, 'endpoints'));

describe('an endpoint of this machine', () => {
  it('announces its current mailboxes, and disappears when it is withdrawn', async () => {
    expect(await endpointsHere({ directory })).toEqual([]);
    const entry = await registerEndpoint({ host: '::', port: 7 }, { directory });
    expect(await endpointsHere({ directory })).toEqual([]);
    for (const mailboxes of [[MAILBOX, 'cd'.repeat(32)], [MAILBOX], []]) {
      await entry.announce(mailboxes);
      expect(await endpointsHere({ directory })).toMatchObject([
        { host: '::1', port: 7, mailboxes: new Set(mailboxes) },
      ]);
    }
    await entry.withdraw();
    expect(await endpointsHere({ directory })).toEqual([]);
  });

  it('holds the mailboxes of a thousand contacts', async () => {
    const entry = await registerEndpoint({ host: '127.0.0.1', port: 7 }, { directory });
    const mailboxes = Array.from({ length: 4000 }, (_, i) => i.toString(16).padStart(64, '0'));
    await entry.announce(mailboxes);
    expect((await endpointsHere({ directory }))[0]?.mailboxes.size).toBe(4000);
  });

  it('is skipped and removed if its process is dead or its file invalid', async () => {
    const entry = await registerEndpoint({ host: '127.0.0.1', port: 7 }, { directory });
    await entry.announce([MAILBOX]);
    const { pid } = spawnSync(process.execPath, ['--version']);
    const name = (digit: string) => `${digit.repeat(8)}-0000-0000-0000-000000000000.json`;
    const at = (digit: string) => join(directory, 'endpoints', name(digit));
    await writeFile(at('a'), JSON.stringify({ host: '127.0.0.1', port: 8, pid, mailboxes: [MAILBOX] }));
    await writeFile(at('b'), 'not JSON');
    await writeFile(at('c'), JSON.stringify({ host: '127.0.0.1', port: 0, pid: process.pid, mailboxes: [MAILBOX] }));
    expect((await endpointsHere({ directory })).map(({ port }) => port)).toEqual([7]);
    expect(await files()).toHaveLength(1);
  });
});
