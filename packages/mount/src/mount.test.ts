// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findMountHost } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MountedFolder, never, TREE } from '../test/mounted-folder.ts';
import { shell } from '../test/outside.ts';
import { usableBackend, whyNotMountable } from './index.ts';

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

describe.skipIf(reason !== undefined)('a mount', () => {
  const here = new MountedFolder('native');

  it('takes only an empty or missing folder', async () => {
    writeFileSync(here.there('file'), 'file');
    mkdirSync(here.at());
    writeFileSync(here.at('own'), '');
    await expect(here.show()).rejects.toMatchObject({ code: 'MOUNT_BUSY' });
    rmSync(here.at('own'));
    const shown = await here.show();
    await expect(here.show()).rejects.toMatchObject({ code: 'MOUNT_BUSY' });
    await expect(here.show({ folder: join(here.there('file'), 'below') })).rejects.toBeInstanceOf(KeibiError);
    await shown.unmount();
    expect(await shell('ls -d "$1"', here.at())).toBe(here.at());
  });

  it('caches an open file up to the limit plus the needs of a reader', async () => {
    const file = openSync(here.there('large'), 'w');
    ftruncateSync(file, 700 * 2 ** 20);
    for (let mib = 0; mib < 700; mib++) writeSync(file, `this is MiB ${mib}`, mib * 2 ** 20);
    closeSync(file);
    await here.show({ cacheBytes: 2 ** 20 });
    const reader = `exec 3< "$1" && cmp - "$2" <&3 && du -sm "$3" | cut -f 1
      dd if="$1" iflag=nocache count=0 status=none && cmp "$1" "$2" && du -sm "$3" | cut -f 1`;
    const taken = await shell(reader, here.at('large'), here.there('large'), here.cache);
    expect(taken).toMatch(/^\d+\n\d+$/);
    // 256 MiB, and bytes on their way.
    for (const mib of taken.split('\n')) expect(Number(mib)).toBeLessThan(400);
  });

  it('prefetches for a sequential reader without one request per read', async () => {
    writeFileSync(here.there('long'), Buffer.alloc(256 * 2 ** 20, 'a long file '));
    await here.show();
    // Slower than the reader: each read has to wait.
    Object.defineProperty(here.source, 'readsHeld', { get: () => setTimeout(4) });
    expect(await shell('cmp "$1" "$2"', here.at('long'), here.there('long'))).toBe('');
    expect(here.source.wants).toBeLessThan(128); // of 256 MiB, which the kernel asks for one by one
  });

  it('shows files to git as it has kept them in an earlier mount, so that it reads none again', async () => {
    for (let i = 0; i < 40; i++) writeFileSync(here.there(`file ${i}`), `file ${i}\n`);
    const git = 'cd "$1" && git -c user.name=A -c user.email=a@a';
    const shown = await here.show();
    await shell(`cd "$1" && git init -q && ${git} add . && ${git} commit -qm all && git status --porcelain`, here.at());
    // Git reads files again that were written just now, as they may have changed within the same moment.
    await setTimeout(1100);
    await shell('cd "$1" && touch .git/index && git status --porcelain', here.at());
    await shown.unmount();
    rmSync(here.cache, { recursive: true });
    mkdirSync(here.cache);
    await here.show();
    const wanted = vi.spyOn(here.source, 'want');
    expect(await shell('cd "$1" && git status --porcelain', here.at())).toBe('');
    expect(wanted.mock.calls.map(([{ path }]) => path).filter((path) => path.startsWith('file'))).toEqual([]);
  });

  it('reads a file that is longer than the disk of its cache has room for', async () => {
    writeFileSync(here.there('large'), Buffer.alloc(150 * 2 ** 20, 'a large file '));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', here.cache]);
    try {
      const shown = await here.show({ cacheBytes: 2 ** 40 });
      expect(await shell('cmp "$1" "$2" && cmp "$1" "$2"', here.at('large'), here.there('large'))).toBe('');
      await shown.unmount();
    } finally {
      execFileSync('umount', ['-l', here.cache]);
    }
  });

  it('reports that the disk of its cache is full, and recovers when it is not', async () => {
    writeFileSync(here.there('file'), 'a file');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', here.cache]);
    try {
      const shown = await here.show();
      const host = here.hostPid();
      await shell('dd if=/dev/zero of="$1/filler" bs=4096 status=none || true', here.cache);
      expect(await shell('cat "$1" 2>&1 || true', here.at('file'))).toContain('No space left on device');
      rmSync(join(here.cache, 'filler'));
      expect(await shell('cat "$1"', here.at('file'))).toBe('a file');
      expect(here.hostPid()).toBe(host);
      await shown.unmount();
    } finally {
      execFileSync('umount', ['-l', here.cache]);
    }
  });

  it('shows cached data to waiting programs when the peer turns out to be away', async () => {
    mkdirSync(here.there('d'));
    writeFileSync(here.there('d', 'file'), 'inside\n');
    // A program that waits for it outlives the test.
    const shown = await here.show({ patienceMs: 600_000 });
    await shell(TREE, here.at());
    Object.assign(here.source, { looksHeld: never, looks: 0 });
    writeFileSync(here.there('d', 'other'), 'other');
    const listings = shell('for i in $(seq 50); do cat "$1/file"; ls "$1"; sleep 0.02; done | sort -u', here.at('d'));
    await vi.waitUntil(() => here.source.looks > 0, { timeout: 240_000 });
    shown.setAway(true);
    expect(await listings).toMatch(/^file\ninside/);
  });

  it('leaves no program waiting when its host is killed while it notifies the kernel', async () => {
    mkdirSync(here.there('d'));
    writeFileSync(here.there('d', 'known'), 'known');
    let creates = 0;
    const create = () => {
      creates++;
      return never;
    };
    const get = (of: object, name: string) => (name === 'create' ? create : Reflect.get(of, name));
    Object.assign(here.source, { writes: new Proxy(here.source.writes, { get }) });
    const shown = await here.show({ patienceMs: 60_000 });
    expect(await shell('cat "$1/known"', here.at('d'))).toBe('known');
    // Creating a file locks its directory, and a notice of another name in it waits for that lock.
    const making = shell('sh -c "echo new > \\"$1/new\\"" 2>&1 || true', here.at('d'));
    await vi.waitUntil(() => creates > 0, { timeout: 240_000 });
    rmSync(here.there('d', 'known'));
    const host = here.hostPid();
    const isTelling = async () => (await shell('cat /proc/$1/task/*/wchan', `${host}`)).includes('fuse_reverse_inval');
    await expect.poll(isTelling).toBe(true);
    process.kill(host, 'SIGKILL');
    expect(await making).toMatch(/connection abort|endpoint is not connected/i);
    await expect(shown.closed).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
    here.shown = undefined;
  });

  it('does not begin once it is aborted', async () => {
    const over = new Error('over');
    await expect(here.show({ signal: AbortSignal.abort(over) })).rejects.toBe(over);
  });
});

// The files of the library are hidden in a mount namespace of the program's own, which root alone can make.
const WITHOUT_LIBRARY = `#!/bin/sh
exec unshare -m sh -c '
  for file in $(ldconfig -p | sed -n "s/.*libfuse3.* => //p"); do mount --bind /dev/null "$file"; done
  exec "$0" "$@"' "$REAL_HOST" "$@"
`;

describe.skipIf(reason !== undefined || process.getuid?.() !== 0)('a system without libfuse3', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('reports what to install', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keibidrop-without-'));
    writeFileSync(join(folder, 'host'), WITHOUT_LIBRARY, { mode: 0o755 });
    vi.stubEnv('REAL_HOST', findMountHost());
    vi.stubEnv('KD_MOUNT_HOST', join(folder, 'host'));
    await expect(usableBackend('native')).rejects.toThrow(/^libfuse3 is missing. Install it .*apt-get install fuse3/);
    rmSync(folder, { recursive: true });
  });
});

const second = await usableBackend('fuse-native').then(
  () => '',
  (failure: Error) => failure.message,
);
const alone = second.includes('not installed');
if (alone) console.warn(`SKIPPED: there is one backend. ${second}`);

describe.skipIf(reason !== undefined || alone)('the backend of a mount', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('is the mount host where it can be started, else fuse-native, unless one is named', async () => {
    expect((await usableBackend()).name).toBe('native');
    // This program exits with another code than the mount host.
    vi.stubEnv('KD_MOUNT_HOST', '/bin/false');
    vi.stubEnv('KD_FUSE_NATIVE_HOST', process.execPath);
    expect((await usableBackend()).name).toBe('fuse-native');
    await expect(usableBackend('native')).rejects.toThrow(/mount host cannot be started/);
    vi.stubEnv('KD_MOUNT_HOST', undefined);
    vi.stubEnv('KD_MOUNT_BACKEND', 'fuse-native');
    expect((await usableBackend()).name).toBe('fuse-native');
    vi.stubEnv('KD_MOUNT_BACKEND', 'fuse');
    expect(await whyNotMountable()).toContain('native or fuse-native');
  });

  it('says what to install where there is none', async () => {
    vi.stubEnv('KD_MOUNT_HOST', '/nowhere');
    vi.stubEnv('KD_FUSE_NATIVE_HOST', '/nowhere');
    await expect(usableBackend()).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringMatching(/libfuse3.*fuse-native-host\.cjs/),
    });
  });
});
