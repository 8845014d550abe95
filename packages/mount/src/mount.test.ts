// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shell } from '../test/outside.ts';
import {
  LocalSource,
  type Mount,
  type MountOptions,
  mount,
  mountedAt,
  mountsOfOurs,
  type WantedBlocks,
  type WantedFile,
  whyNotMountable,
} from './index.ts';

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

/** A folder that is as far away as a test wants it to be. */
class FarSource extends LocalSource {
  /** What reads wait for. */
  held: Promise<unknown> = Promise.resolve();
  wants = 0;

  override async want(file: WantedFile, blocks: WantedBlocks, options: { signal: AbortSignal }) {
    this.wants++;
    await Promise.race([this.held, aborted(options.signal)]);
    return super.want(file, blocks, options);
  }
}

const never = new Promise(() => {});
const { signal } = new AbortController();
/** As much as is told of a tree: paths, types, modes, sizes of files, times, targets. Followed by a sum over all content. */
const TREE = `cd "$1" && find . -mindepth 1 \\( -type d -printf '%P d %m\\n' -o -printf '%P %y %m %s %T@ %l\\n' \\) | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum`;

// Programs of the system do the looking, on a machine that does other things as well.
describe.skipIf(reason !== undefined)('a mounted folder', { timeout: 30_000 }, () => {
  let folder: string;
  let source: FarSource;
  let shown: Mount;
  const at = (...names: string[]) => join(folder, 'mounted', ...names);
  const there = (...names: string[]) => join(folder, 'source', ...names);
  const show = (more: Partial<MountOptions> = {}) =>
    mount({ source, folder: at(), cache: join(folder, 'cache'), signal, ...more });
  const hostPid = () => Number(execFileSync('pgrep', ['-f', `keibidrop-mount ${at()}`], { encoding: 'utf8' }));

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-mount-')));
    for (const name of ['source', 'cache']) mkdirSync(join(folder, name));
    mkdirSync(there('d', 'deep'), { recursive: true });
    writeFileSync(there('d', 'file'), 'inside');
    source = new FarSource(there());
  });
  afterEach(async () => {
    await shown?.unmount({ force: true });
    await source.close();
    rmSync(folder, { recursive: true });
  });

  it('shows what is there: names, types, modes, times, links and content', async () => {
    symlinkSync('d/file', there('link'));
    symlinkSync('nowhere/../..', there('d', 'dangling'));
    writeFileSync(there('empty'), '', { mode: 0o400 });
    writeFileSync(there('d', 'deep', 'näme with\nnewline'), 'x', { mode: 0o755 });
    writeFileSync(there('large'), Buffer.alloc(5 * 2 ** 20 + 7, 'large and not empty '));
    truncateSync(there('large'), 9 * 2 ** 20 + 1);
    utimesSync(there('d', 'file'), 1, 123456789.25);
    for (let i = 0; i < 200; i++) writeFileSync(there('d', 'deep', `${i}`), `${i}`);
    shown = await show();
    expect(await shell(TREE, at())).toBe(await shell(TREE, there()));
    expect(await shell('cat "$1"', at('link'))).toBe('inside');
    expect(await shell('tail -c 3000000 "$1" | cmp - "$2" -i 0:6437185', at('large'), there('large'))).toBe('');
    expect(await shell('stat -c %n "$1"', at('d', 'none'))).toContain('No such file');
    expect(await shell('stat -c %n "$1"', at('d', 'n'.repeat(256)))).toContain('File name too long');
  });

  it('refuses to be written if it is to be read alone', async () => {
    shown = await show({ readOnly: true });
    expect(await shell('echo x > "$1"', at('d', 'file'))).toContain('Read-only');
    expect(await shell('rm "$1"', at('d', 'file'))).toContain('Read-only');
  });

  it('shows what changes there: made, changed, replaced, moved and removed', async () => {
    writeFileSync(there('gone'), 'here');
    shown = await show();
    expect(await shell('cat "$1/d/file" "$1/gone"; ls "$1"', at())).toBe('insidehered\ngone');
    expect(await shell('cat "$1"', at('new'))).toContain('No such file');
    writeFileSync(there('new'), 'new');
    writeFileSync(there('d', 'file'), 'changed');
    rmSync(there('gone'));
    renameSync(there('d', 'deep'), there('moved'));
    const seen =
      'until [ "$(cat "$1/new" "$1/d/file" 2>&1)" = newchanged ] && [ ! -e "$1/gone" ] && [ -d "$1/moved" ] && [ ! -e "$1/d/deep" ]; do sleep 0.02; done; ls "$1"';
    expect(await shell(seen, at())).toBe('d\nmoved\nnew');
  });

  it('asks only once for what it has, and reads it without asking', async () => {
    writeFileSync(there('large'), Buffer.alloc(3 * 2 ** 20, 'x'));
    shown = await show();
    await shell('cat "$1" > /dev/null', at('large'));
    const wants = source.wants;
    expect(wants).toBeGreaterThan(0);
    await shell('cat "$1" > /dev/null', at('large'));
    expect(source.wants).toBe(wants);
  });

  it('keeps of what was read no more than there is to be room for', async () => {
    for (let i = 0; i < 10; i++) writeFileSync(there(`${i}`), Buffer.alloc(2 ** 20, `${i}`));
    shown = await show({ cacheBytes: 3 * 2 ** 20 });
    const sum = 'cd "$1" && cat 0 1 2 3 4 5 6 7 8 9 0 | sha256sum';
    expect(await shell(sum, at())).toBe(await shell(sum, there()));
    // The kernel tells of a close when it likes.
    const small = 'until [ "$(du -sk "$1" | cut -f 1)" -le 3200 ]; do sleep 0.02; done';
    expect(await shell(small, join(folder, 'cache'))).toBe('');
    expect(await shell(sum, at())).toBe(await shell(sum, there()));
  });

  it('keeps no more of a file that is open than there is to be room for, and what a reader needs', async () => {
    const file = openSync(there('large'), 'w');
    ftruncateSync(file, 700 * 2 ** 20);
    for (let mib = 0; mib < 700; mib++) writeSync(file, `this is MiB ${mib}`, mib * 2 ** 20);
    closeSync(file);
    shown = await show({ cacheBytes: 2 ** 20 });
    const reader = `exec 3< "$1" && cmp - "$2" <&3 && du -sm "$3" | cut -f 1
      dd if="$1" iflag=nocache count=0 status=none && cmp "$1" "$2" && du -sm "$3" | cut -f 1`;
    const taken = await shell(reader, at('large'), there('large'), join(folder, 'cache'));
    expect(taken).toMatch(/^\d+\n\d+$/);
    // 256 MiB, and what was on its way.
    for (const mib of taken.split('\n')) expect(Number(mib)).toBeLessThan(400);
  });

  it('reads a file that is longer than the disk of its cache has room for', async () => {
    writeFileSync(there('large'), Buffer.alloc(150 * 2 ** 20, 'a large file '));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', join(folder, 'cache')]);
    try {
      shown = await show({ cacheBytes: 2 ** 40 });
      expect(await shell('cmp "$1" "$2" && cmp "$1" "$2"', at('large'), there('large'))).toBe('');
      await shown.unmount();
    } finally {
      execFileSync('umount', ['-l', join(folder, 'cache')]);
    }
  });

  it('never shows a mix of two versions to who has one of them open', async () => {
    writeFileSync(there('f'), Buffer.alloc(2 ** 22, 'a'));
    shown = await show();
    const reader = shell(
      'exec 3< "$1/mounted/f"; dd bs=1 count=1 <&3 2>/dev/null; touch "$1/cache/read"; until [ -e "$1/cache/go" ]; do sleep 0.02; done; cat <&3 | tr -d a | head -c 9',
      folder,
    );
    await shell('until [ -e "$1/cache/read" ]; do sleep 0.02; done', folder);
    writeFileSync(there('new'), Buffer.alloc(2 ** 22, 'b'));
    renameSync(there('new'), there('f'));
    expect(await shell('until [ "$(head -c 1 "$1")" = b ]; do sleep 0.02; done; tr -d b < "$1" | wc -c', at('f'))).toBe(
      '0',
    );
    writeFileSync(join(folder, 'cache', 'go'), '');
    // All of one version, or an error: no `b` behind the `a` that it has seen.
    expect(await reader).toMatch(/^a$|Stale file handle/);
  });

  it('fails what does not come in time, and a process that is killed does not wait', async () => {
    shown = await show({ patienceMs: 300 });
    source.held = never;
    expect(await shell('cat "$1"', at('d', 'file'))).toContain('timed out');
    await shown.unmount();
    shown = await show({ patienceMs: 60_000 });
    expect(await shell('timeout -s KILL 0.3 cat "$1"; echo over', at('d', 'file'))).toMatch(/over$/);
  });

  it('shows what it has while the peer is away', async () => {
    shown = await show({ patienceMs: 300 });
    await shell(TREE, at());
    shown.setAway(true);
    source.held = never;
    writeFileSync(there('d', 'other'), 'other');
    expect(await shell('cat "$1/d/file"; ls "$1/d"', at())).toMatch(/^insidedeep\nfile/);
  });

  it('ends when it is told to, but not under who uses it', async () => {
    shown = await show();
    const user = shell('cd "$1" && until [ -e "$2/go" ]; do sleep 0.02; done', at(), join(folder, 'cache'));
    await shell('until ls -l /proc/*/cwd 2>/dev/null | grep -q "$1"; do sleep 0.02; done', at());
    await expect(shown.unmount()).rejects.toMatchObject({ code: 'MOUNT_BUSY' });
    expect(await shell('cat "$1"', at('d', 'file'))).toBe('inside');
    writeFileSync(join(folder, 'cache', 'go'), '');
    await user;
    await shown.unmount();
    await shown.closed;
    expect(await mountedAt(at())).toBeUndefined();
    // It was made for this, and goes with it.
    expect(await shell('ls "$1"', folder)).toBe('cache\nsource');
  });

  it('also under who uses it, with force', async () => {
    shown = await show();
    const user = shell('cd "$1" && echo in && while ls >/dev/null 2>&1; do sleep 0.02; done', at());
    await shell('until ls -l /proc/*/cwd 2>/dev/null | grep -q "$1"; do sleep 0.02; done', at());
    await shown.unmount({ force: true });
    expect(await user).toBe('in');
    expect(await mountsOfOurs()).not.toContainEqual(expect.objectContaining({ folder: at() }));
  });

  it('leaves nothing when its host is killed, and can be mounted again at once', async () => {
    shown = await show();
    expect(await shell('cat "$1"', at('d', 'file'))).toBe('inside');
    process.kill(hostPid(), 'SIGKILL');
    await expect(shown.closed).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
    expect(await mountedAt(at())).toBeUndefined();
    shown = await show();
    expect(await shell('cat "$1"', at('d', 'file'))).toBe('inside');
  });

  it('resolves when somebody else has unmounted it', async () => {
    shown = await show();
    await shell('until fusermount3 -u "$1"; do sleep 0.02; done', at());
    await shown.closed;
  });

  it('takes an empty folder, or one that is not there, and no other', async () => {
    mkdirSync(at());
    writeFileSync(at('own'), '');
    await expect(show()).rejects.toMatchObject({ code: 'MOUNT_BUSY' });
    rmSync(at('own'));
    shown = await show();
    await expect(show()).rejects.toMatchObject({ code: 'MOUNT_BUSY' });
    await expect(
      mount({ source, folder: join(there('d', 'file'), 'below'), cache: join(folder, 'cache'), signal }),
    ).rejects.toBeInstanceOf(KeibiError);
    await shown.unmount();
    expect(await shell('ls -d "$1"', at())).toBe(at());
  });

  it('does not begin once it is aborted', async () => {
    const over = new Error('over');
    await expect(
      mount({ source, folder: at(), cache: join(folder, 'cache'), signal: AbortSignal.abort(over) }),
    ).rejects.toBe(over);
  });
});

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
