// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { shellIn } from './shell.ts';

const PATIENT = { env: { KD_PATIENCE: '5m', KD_MOUNT_PATIENCE_MS: '1500' } };
const LARGE = randomBytes(24 * 2 ** 20 + 5);

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let sandbox: Sandbox;
let anna: OwnDaemon;
let bob: OwnDaemon;
let code: string;

const shell = (line: string) => shellIn(sandbox, line);

const isMounted = () => readFileSync('/proc/self/mountinfo', 'utf8').includes(sandbox.path('far'));

describe.skipIf(reason !== undefined)('a mounted share', () => {
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    await mkdir(sandbox.path('photos', 'holiday'), { recursive: true });
    await writeFile(sandbox.path('photos', 'holiday', 'beach.jpg'), 'sand');
    await writeFile(sandbox.path('photos', 'cat.jpg'), 'fur');
    await writeFile(sandbox.path('photos', 'large'), LARGE);
    for (let i = 0; i < 200; i++) await writeFile(sandbox.path('photos', 'holiday', `${i}.jpg`), `picture ${i}`);
    anna = await OwnDaemon.start(sandbox, 'anna', PATIENT);
    bob = await OwnDaemon.start(sandbox, 'bob', PATIENT);
    const { event } = await anna.command('add', 'photos', ...LISTEN);
    code = event.code as string;
  });
  afterAll(async () => {
    await bob?.command('stop');
    await sandbox?.close();
  });

  it('works like any folder, mounted by its code only', async () => {
    const mounted = await bob.command('mount', code, 'far');
    expect(mounted).toMatchObject({
      exit: 0,
      event: { event: 'mount', folder: sandbox.path('far'), share: 'photos', state: 'open' },
    });
    expect(await shell('diff -r photos far && cp -r far copied && diff -r photos copied && ls far')).toBe(
      'cat.jpg\nholiday\nlarge',
    );
    expect(await shell('stat -c %Y far/large')).toBe(await shell('stat -c %Y photos/large'));
    expect((await bob.command('mount')).event).toMatchObject({
      event: 'mounts',
      mounts: [{ share: 'photos', state: 'open' }],
    });
    const [status, list] = await Promise.all([bob.command('status'), bob.command('list')]);
    const mounts = [{ folder: sandbox.path('far'), share: 'photos', state: 'open' }];
    expect(status.event).toMatchObject({ mounts });
    expect(list.event).toMatchObject({ shares: [{ name: 'photos', kind: 'guest' }], mounts });
    expect(await bob.said('list')).toMatch(/^photos .*, mounted at .*far$/m);
    expect(await bob.said('status')).toMatch(/^Mounts .*far, open$/m);
  });

  it('shows changes of the sharing side', async () => {
    writeFileSync(sandbox.path('photos', 'dog.jpg'), 'bark');
    writeFileSync(sandbox.path('photos', 'new'), 'longer fur');
    renameSync(sandbox.path('photos', 'new'), sandbox.path('photos', 'cat.jpg'));
    expect(
      await shell('until [ "$(cat far/dog.jpg far/cat.jpg 2>&1)" = "barklonger fur" ]; do sleep 0.02; done; ls far'),
    ).toBe('cat.jpg\ndog.jpg\nholiday\nlarge');
  });

  it('is written like any folder, and fsynced data is on the sharing side', async () => {
    const lines = `cd far && mkdir own && cp -r holiday own/copy && echo meow >> cat.jpg && mv own/copy own/moved && rm own/moved/1.jpg && ln -s moved own/link &&
      touch -d @1000000000 own/moved/2.jpg && chmod 600 own/moved/3.jpg && cp large own/large && truncate -s 20000000 own/large && sync own/large cat.jpg own/moved/beach.jpg && ls own`;
    expect(await shell(lines)).toBe('large\nlink\nmoved');
    expect(await shell('head -c 20000000 photos/large | cmp - photos/own/large && cat photos/cat.jpg')).toBe(
      'longer furmeow',
    );
    await expect.poll(() => shell('diff -r --no-dereference photos far && ls photos/own/moved | wc -l')).toBe('200');
    expect(await shell('stat -c "%Y %a" photos/own/moved/2.jpg; stat -c %a photos/own/moved/3.jpg')).toMatch(
      /^1000000000 .*\n600$/,
    );
    const random = fileURLToPath(new URL('../../packages/mount/test/random-writes.mjs', import.meta.url));
    expect(await shell(`exec ${process.execPath} ${random} far photos 7 5000`)).toBe('same');
    expect(await shell('cd far && rm -rf own random-7* && ls')).toBe('cat.jpg\ndog.jpg\nholiday\nlarge');
  });

  it('cannot be shared again, nor mounted inside a shared folder', async () => {
    await shell('mkdir photos/empty');
    expect((await bob.command('add', 'far', ...LISTEN)).event).toMatchObject({ code: 'TRANSFER_SOURCE_UNSUPPORTED' });
    // A process other than the sharing one refuses, too.
    for (const daemon of [anna, bob]) {
      for (const folder of ['photos/holiday/within', 'photos/empty']) {
        expect(await daemon.command('mount', code, folder)).toMatchObject({
          exit: 6,
          event: { code: 'MOUNT_UNAVAILABLE' },
        });
      }
    }
    expect(await shell('rmdir photos/empty; ls -A photos')).toBe('cat.jpg\ndog.jpg\nholiday\nlarge');
    await shell('mkdir full && touch full/up');
    expect(await bob.command('mount', code, 'full')).toMatchObject({ exit: 6, event: { code: 'MOUNT_BUSY' } });
    expect(await bob.command('mount', code, 'far')).toMatchObject({ exit: 6, event: { code: 'MOUNT_BUSY' } });
  });

  it('keeps serving read files while the sharing side is away, fails other reads in time, and recovers', async () => {
    expect(await shell('cat far/dog.jpg; head -c 100000 far/large | wc -c')).toBe('bark100000');
    await writeFile(sandbox.path('photos', 'unread'), randomBytes(2 ** 20));
    expect(await shell('until [ -e far/unread ]; do sleep 0.02; done')).toBe('');
    anna.running.kill();
    await anna.running.ended;
    expect(
      await shell('cat far/dog.jpg; ls far/holiday | wc -l; head -c 100000 far/large | cmp -n 100000 - photos/large'),
    ).toBe('bark201');
    expect(await shell('cat far/unread > unread')).toMatch(/timed out|Input\/output error/);
    expect(await shell('printf away > far/dog.jpg; cat far/dog.jpg')).toBe('away');
    await anna.replace();
    await expect.poll(() => readFileSync(sandbox.path('photos', 'dog.jpg'), 'utf8')).toBe('away');
    expect(await shell('until cmp far/unread photos/unread 2>/dev/null; do sleep 0.1; done; ls far/unread')).toBe(
      'far/unread',
    );
  });

  it('unmounts when its daemon is killed, and comes back with the next daemon', async () => {
    const reader = shell('while cat far/large > /dev/null; do :; done');
    expect(isMounted()).toBe(true);
    bob.running.kill();
    await bob.running.ended;
    expect(await reader).not.toBe('it hung');
    expect(
      await shell(`while grep -q ${sandbox.path('far')} /proc/self/mountinfo; do sleep 0.02; done; ls far`),
    ).not.toContain('not connected');
    // A file written now would hide below the next mount, so the write fails unless the user lifts the guard.
    expect(await shell('echo lost > far/stray')).toMatch(/not permitted|denied/);
    expect(await shell('{ chattr -f -i far || :; } && chmod 755 far && echo lost > far/stray')).toBe('');
    await bob.replace();
    const why = await bob.until((event) => event.event === 'mount' && event.reason !== undefined);
    expect(why).toMatchObject({ state: 'waiting', reason: expect.stringContaining('not empty') });
    expect(await bob.said('mount')).toContain('not empty');
    await shell('rm far/stray');
    await bob.until((event) => event.event === 'mount' && event.state === 'open');
    expect(await shell('diff -r photos far')).toBe('');
  });

  it('sends pending writes before it unmounts, and refuses writes with --read-only', async () => {
    await shell('for i in $(seq 50); do echo last > far/last$i; done; cp photos/large far/last');
    expect(await bob.command('unmount', 'far')).toMatchObject({ exit: 0, event: { event: 'unmounted', unsent: 0 } });
    expect(await shell('cat photos/last[0-9]* | sort | uniq -c | tr -s " "; cmp photos/last photos/large')).toBe(
      '50 last',
    );
    expect(await bob.command('mount', code, 'far', '--read-only')).toMatchObject({
      exit: 0,
      event: { readOnly: true },
    });
    expect(await shell('echo x > far/cat.jpg')).toContain('Read-only file system');
  });

  it('is unmounted together with the connection made for it', async () => {
    expect(await bob.command('unmount', 'far')).toMatchObject({
      exit: 0,
      event: { event: 'unmounted', folder: sandbox.path('far') },
    });
    expect(isMounted()).toBe(false);
    expect((await bob.command('list')).event).toMatchObject({ shares: [] });
    expect(await bob.command('unmount', 'far')).toMatchObject({ exit: 6, event: { code: 'MOUNT_UNAVAILABLE' } });
  });
});
