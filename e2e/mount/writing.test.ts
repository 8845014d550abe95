// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { shellIn } from './shell.ts';

const PATIENT = { env: { KD_PATIENCE: '5m', KD_MOUNT_PATIENCE_MS: '2000' } };
const LARGE = randomBytes(24 * 2 ** 20 + 5);

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let sandbox: Sandbox;
let anna: OwnDaemon;
let bob: OwnDaemon;
let code: string;

const shell = (line: string) => shellIn(sandbox, line);

/** Waits until a file written in the mount is on the sharing side. */
const arrived = (name: string) =>
  shell(`for i in $(seq 200); do cmp -s far/${name} work/${name} && exit 0; sleep 0.05; done; exit 1`);

describe.skipIf(reason !== undefined)('a mounted share that is written', () => {
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    await mkdir(sandbox.path('work'));
    await writeFile(sandbox.path('work', 'plan.txt'), 'one\n');
    await writeFile(sandbox.path('large'), LARGE);
    [anna, bob] = await Promise.all([
      OwnDaemon.start(sandbox, 'anna', PATIENT),
      OwnDaemon.start(sandbox, 'bob', PATIENT),
    ]);
    code = (await anna.command('add', 'work', ...LISTEN)).event.code as string;
    expect(await bob.command('mount', code, 'far')).toMatchObject({ exit: 0, event: { readOnly: false } });
  });
  afterAll(async () => {
    await bob?.command('stop');
    await sandbox?.close();
  });

  it('takes files, folders, names, modes, times and attributes like a folder of this computer', async () => {
    expect(
      await shell('cp large far/ && mkdir -p "far/a b/c" && echo two >> far/plan.txt && mv far/large "far/a b/c/"'),
    ).toBe('');
    expect(
      await shell('ln -s ../plan.txt "far/a b/link" && chmod 640 far/plan.txt && touch -d @1000000000 far/plan.txt'),
    ).toBe('');
    expect(await shell('sync -f far/plan.txt; diff -r --no-dereference far work')).toBe('');
    expect(await shell('cmp large "work/a b/c/large"')).toBe('');
    expect(await shell('stat -c "%a %Y" work/plan.txt far/plan.txt; readlink "work/a b/link"')).toBe(
      '640 1000000000\n640 1000000000\n../plan.txt',
    );
    expect(await shell('rm -r "far/a b" && ls work')).toBe('plan.txt');
    expect(await shell('set -C; echo x > far/plan.txt')).toMatch(/exist/i);
  });

  it('holds a git repository: clone, commit, fsck, status', async () => {
    const git = 'git -c user.name=a -c user.email=a@b -c init.defaultBranch=main -c safe.directory=*';
    await shell(
      `mkdir origin && cd origin && for i in $(seq 300); do echo $i > file$i; done; ${git} init -q && ${git} add . && ${git} commit -qm all`,
    );
    expect(await shell(`${git} clone -q origin far/clone && cd far/clone && ${git} status --porcelain`)).toBe('');
    expect(
      await shell(
        `cd far/clone && echo more >> file7 && ${git} commit -qam more && ${git} fsck && ${git} status --porcelain`,
      ),
    ).toBe('');
    await shell('sync -f far/clone');
    expect(await shell(`cd work/clone && ${git} log --format=%s && ${git} fsck`)).toBe('more\nall');
    expect(await shell('diff -r far/clone work/clone')).toBe('');
  });

  it('keeps fsynced data when both daemons are killed afterwards', async () => {
    expect(await shell('dd if=large of=far/kept bs=1M conv=fsync status=none')).toBe('');
    bob.running.kill();
    anna.running.kill();
    await Promise.all([bob.running.ended, anna.running.ended]);
    expect(await shell('cmp large work/kept')).toBe('');
    await Promise.all([anna.replace(), bob.replace()]);
    await bob.until((event) => event.event === 'mount' && event.state === 'open');
    expect(await shell('cmp large far/kept && rm far/kept && ls work/kept')).toMatch(/No such file/);
  });

  it('sends writes made while the sharing side was away, and keeps both versions on a conflict', async () => {
    expect(
      await shell('echo first > far/mine && echo first > far/ours && sync far/mine far/ours && cat far/mine far/ours'),
    ).toBe('first\nfirst');
    anna.running.kill();
    await anna.running.ended;
    await bob.until((event) => event.event === 'mount' && event.state === 'away');
    expect(await shell('echo bob >> far/mine && echo bob >> far/ours && cat far/ours')).toBe('first\nbob');
    await writeFile(sandbox.path('work', 'ours'), 'first\nanna was here\n');
    await anna.replace();
    expect(await arrived('mine')).toBe('');
    expect(await readFile(sandbox.path('work', 'mine'), 'utf8')).toBe('first\nbob\n');
    await shell('for i in $(seq 200); do ls work | grep -q conflict && exit; sleep 0.05; done');
    const conflict = (await readdir(sandbox.path('work'))).find((name) =>
      /^ours \(conflict \d{4}-\d\d-\d\d .+\)$/.test(name),
    );
    expect(await readFile(sandbox.path('work', 'ours'), 'utf8')).toBe('first\nanna was here\n');
    expect(await readFile(sandbox.path('work', conflict as string), 'utf8')).toBe('first\nbob\n');
    expect(await shell('diff -r far work')).toBe('');
  });

  it('is unmounted once all writes are sent, or by force without', async () => {
    anna.running.kill();
    await anna.running.ended;
    await bob.until((event) => event.event === 'mount' && event.state === 'away');
    expect(await shell('echo lost >> far/plan.txt')).toBe('');
    expect(await bob.command('unmount', 'far')).toMatchObject({ exit: 6, event: { code: 'MOUNT_BUSY' } });
    expect(await shell('tail -1 far/plan.txt')).toBe('lost');
    await anna.replace();
    expect(await arrived('plan.txt')).toBe('');
    expect(await bob.command('unmount', 'far')).toMatchObject({ exit: 0, event: { unsent: 0 } });
  });

  it('is read-only if either side asks for it', async () => {
    expect(await bob.command('mount', code, 'far', '--read-only', '--cache-size', '100M')).toMatchObject({
      exit: 0,
      event: { readOnly: true },
    });
    expect(await shell('echo x > far/new')).toMatch(/Read-only file system/);
    expect(await bob.command('unmount', 'far')).toMatchObject({ exit: 0 });
    const shared = await anna.command('add', 'work', '--read-only', ...LISTEN);
    expect(await bob.command('mount', shared.event.code as string, 'far')).toMatchObject({ event: { readOnly: true } });
    expect(await shell('rm far/plan.txt')).toMatch(/Read-only file system/);
    expect(await bob.command('mount', code, 'other', '--cache-size', 'much')).toMatchObject({ exit: 2 });
  });
});
