// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BackendName, mountedAt, mountsOfOurs } from '../src/index.ts';
import { backendOf } from '../src/usable-backend.ts';
import { MountedFolder, never, TREE } from './mounted-folder.ts';
import { shell } from './outside.ts';

/** The ways in which a backend differs from `native`. Tests assert each; docs/PORTING.md lists them for people. */
export interface Differences {
  /** Times have milliseconds only. */
  timesInMilliseconds?: boolean;
  /** The time that a program gives a file is that of the last access which it gives; one that gives none changes nothing. */
  takesAccessTimeForMtime?: boolean;
  /** Open handles of a replaced file may read parts of the new one, if another program reads that at the same time. */
  sharesPages?: boolean;
  /** A file that is removed, or replaced, while it is open stays as .fuse_hidden until it is closed. */
  hidesWhatIsOpen?: boolean;
  /** An open that may create the file fails with EEXIST if it was created meanwhile. */
  makesOnlyWhatIsNew?: boolean;
  /** There is no renameat2 with flags. */
  renamesPlainly?: boolean;
  /** A process that is killed while it waits for the peer goes when patience is over. */
  waitsAlsoIfKilled?: boolean;
  /** Each call waits for as long as patience goes, also one after another. */
  waitsForEachAlone?: boolean;
}

/** The requirements of every mount backend. See also backend-writes-contract.ts. */
export function describeBackend(name: BackendName, differences: Differences): void {
  // Programs of the system do the looking, on a machine that does other things as well.
  describe(`${name}: a mounted folder`, () => {
    const here = new MountedFolder(name);
    const at = here.at.bind(here);
    const there = here.there.bind(here);
    const withFile = () => {
      mkdirSync(there('d', 'deep'), { recursive: true });
      writeFileSync(there('d', 'file'), 'inside');
    };

    it('shows names, types, modes, times, links and content', async () => {
      withFile();
      symlinkSync('d/file', there('link'));
      symlinkSync('nowhere/../..', there('d', 'dangling'));
      writeFileSync(there('empty'), '', { mode: 0o400 });
      writeFileSync(there('d', 'deep', 'näme with\nnewline'), 'x', { mode: 0o755 });
      writeFileSync(there('large'), Buffer.alloc(5 * 2 ** 20 + 7, 'large and not empty '));
      truncateSync(there('large'), 9 * 2 ** 20 + 1);
      utimesSync(there('d', 'file'), 1, 123456789.25);
      for (let i = 0; i < 60; i++) writeFileSync(there('d', 'deep', `${i}`), `${i}`);
      await here.show();
      const rounded = (tree: string) =>
        differences.timesInMilliseconds ? tree.replaceAll(/(\.\d{3})\d{7}/g, '$10000000') : tree;
      expect(await shell(TREE, at())).toBe(rounded(await shell(TREE, there())));
      expect(await shell('cat "$1"', at('link'))).toBe('inside');
      expect(await shell('tail -c 3000000 "$1" | cmp - "$2" -i 0:6437185', at('large'), there('large'))).toBe('');
      expect(
        await shell(
          'dd if="$1" bs=1000 skip=6000 count=3 status=none | cmp - "$2" -i 0:6000000 -n 3000',
          at('large'),
          there('large'),
        ),
      ).toBe('');
      expect(await shell('dd if="$1" bs=1M skip=20 status=none | wc -c', at('large'))).toBe('0');
      expect(await shell('stat -c %n "$1"', at('d', 'none'))).toContain('No such file');
      expect(await shell('stat -c %n "$1"', at('d', 'n'.repeat(256)))).toContain('File name too long');
      expect(await shell('stat -f -c "%S %b" "$1" | awk \'{ print ($1 * $2 > 0) }\'', at())).toBe('1');
    });

    it('refuses to be written if it is to be read alone', async () => {
      withFile();
      const shown = await here.show({ readOnly: true });
      expect(shown).toMatchObject({ readOnly: true, backend: name });
      expect(await shell('echo x > "$1"', at('d', 'file'))).toContain('Read-only');
      expect(await shell('rm "$1"', at('d', 'file'))).toContain('Read-only');
    });

    it('shows what is created, changed, moved and removed there', async () => {
      withFile();
      writeFileSync(there('gone'), 'here');
      await here.show();
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

    it('requests cached blocks only once, and caches no more than the limit', async () => {
      for (let i = 0; i < 6; i++) writeFileSync(there(`${i}`), Buffer.alloc(2 ** 20, `${i}`));
      await here.show({ cacheBytes: 3 * 2 ** 20 });
      await shell('cat "$1" > /dev/null', at('0'));
      const { wants } = here.source;
      expect(wants).toBeGreaterThan(0);
      await shell('cat "$1" > /dev/null', at('0'));
      expect(here.source.wants).toBe(wants);
      const sum = 'cd "$1" && cat 0 1 2 3 4 5 0 | sha256sum';
      expect(await shell(sum, at())).toBe(await shell(sum, there()));
      // The kernel reports a close late.
      const small = 'until [ "$(du -sk "$1" | cut -f 1)" -le 3200 ]; do sleep 0.02; done';
      expect(await shell(small, here.cache)).toBe('');
      expect(await shell(sum, at())).toBe(await shell(sum, there()));
    });

    it('never shows a mix of two versions to an open handle', async () => {
      writeFileSync(there('f'), Buffer.alloc(2 ** 22, 'a'));
      await here.show();
      const opened = (which: string) =>
        shell(
          `exec 3< "$1/mounted/f"; dd bs=1 count=1 <&3 2>/dev/null; touch "$1/cache/read-${which}"; until [ -e "$1/cache/go-${which}" ]; do sleep 0.02; done; cat <&3 | tr -d a | head -c 9`,
          here.folder,
        );
      const readers = [opened('alone'), opened('beside')];
      await shell('until [ -e "$1/read-alone" ] && [ -e "$1/read-beside" ]; do sleep 0.02; done', here.cache);
      writeFileSync(there('new'), Buffer.alloc(2 ** 22 + 1, 'b'));
      renameSync(there('new'), there('f'));
      await shell('until [ "$(stat -c %s "$1")" = 4194305 ]; do sleep 0.02; done', at('f'));
      // All of one version, or an error: no `b` behind the `a` that it has seen.
      writeFileSync(`${here.cache}/go-alone`, '');
      expect(await readers[0]).toMatch(/^a$|Stale file handle/);
      expect(await shell('tr -d b < "$1" | wc -c', at('f'))).toBe('0');
      writeFileSync(`${here.cache}/go-beside`, '');
      expect(await readers[1]).toMatch(differences.sharesPages ? /^ab{8}b$/ : /^a$|Stale file handle/);
    });

    it('fails overdue requests, and shows cached bytes while the peer is away', async () => {
      withFile();
      writeFileSync(there('d', 'other'), 'other');
      const shown = await here.show({ patienceMs: 300 });
      here.source.readsHeld = never;
      expect(await shell('cat "$1"', at('d', 'other'))).toContain('timed out');
      here.source.readsHeld = Promise.resolve();
      await shell('cat "$1/d/file"; ls -l "$1/d"', at());
      writeFileSync(there('d', 'late'), 'late');
      await shell('until [ -e "$1" ]; do sleep 0.02; done', at('d', 'late'));
      shown.setAway(true);
      here.source.readsHeld = never;
      expect(await shell('cat "$1/d/file"; ls "$1/d"', at())).toMatch(/^insidedeep\nfile\n(late\n)?other$/);
      expect(await shell('cat "$1"', at('d', 'late'))).toContain('timed out');
    });

    if (!differences.waitsForEachAlone) {
      it('has one bound for all waiting requests, also for the next ones', async () => {
        const patienceMs = 6000;
        withFile();
        writeFileSync(there('d', 'other'), 'other');
        const shown = await here.show({ patienceMs });
        await shell('ls -l "$1/d"', at());
        here.source.readsHeld = never;
        // The kernel repeats a failed readahead by itself.
        const began = performance.now();
        const both = shell('cat "$1"; cat "$2"', at('d', 'file'), at('d', 'other'));
        await expect.poll(() => here.source.wants, { timeout: patienceMs }).toBeGreaterThan(0);
        // A peer that answers what an open asks is there.
        here.source.looksHeld = never;
        expect(await both).toContain('timed out');
        // Twice the patience if each request had its own; the rest is for a busy machine.
        expect(performance.now() - began).toBeLessThan(1.95 * patienceMs);
        shown.setAway(true);
        expect(await shell('sleep 0.7; exec timeout 3 stat "$1"/deep/a "$1"/deep/b', at('d'))).toContain('timed out');
        here.source.readsHeld = here.source.looksHeld = Promise.resolve();
        shown.setAway(false);
        await expect.poll(() => shell('cat "$1/file" "$1/other"', at('d'))).toBe('insideother');
      });
    }

    it('leaves no killed process waiting', async () => {
      withFile();
      await here.show({ patienceMs: differences.waitsAlsoIfKilled ? 800 : 60_000 });
      here.source.readsHeld = never;
      const killed = 'timeout -s KILL 0.2 cat "$1"; echo over';
      expect(await shell(killed, at('d', 'file'))).toMatch(/over$/);
    });

    it('unmounts on request, but not while it is in use', async () => {
      withFile();
      const shown = await here.show();
      const user = shell('cd "$1" && until [ -e "$2/go" ]; do sleep 0.02; done', at(), here.cache);
      await shell('until ls -l /proc/*/cwd 2>/dev/null | grep -q "$1"; do sleep 0.02; done', at());
      await expect(shown.unmount()).rejects.toMatchObject({ code: 'MOUNT_BUSY' });
      expect(await shell('cat "$1"', at('d', 'file'))).toBe('inside');
      writeFileSync(`${here.cache}/go`, '');
      await user;
      await shown.unmount();
      await shown.closed;
      expect(await mountedAt(at())).toBeUndefined();
      // It was made for this, and goes with it.
      expect(await shell('ls "$1"', here.folder)).toBe('cache\nsource');
    });

    it('unmounts with force even while it is in use', async () => {
      const shown = await here.show();
      const user = shell('cd "$1" && echo in && while ls >/dev/null 2>&1; do sleep 0.02; done', at());
      await shell('until ls -l /proc/*/cwd 2>/dev/null | grep -q "$1"; do sleep 0.02; done', at());
      await shown.unmount({ force: true });
      expect(await user).toBe('in');
      expect(await mountsOfOurs()).not.toContainEqual(expect.objectContaining({ folder: at() }));
    });

    it('resolves when another program has unmounted it', async () => {
      const shown = await here.show();
      await shell('until fusermount3 -u "$1"; do sleep 0.02; done', at());
      await shown.closed;
    });

    it('leaves nothing when its host is killed, and can be mounted again at once', async () => {
      withFile();
      const shown = await here.show();
      expect(await shell('cat "$1"', at('d', 'file'))).toBe('inside');
      process.kill(here.hostPid(), 'SIGKILL');
      await expect(shown.closed).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
      expect(await mountedAt(at())).toBeUndefined();
      await here.show();
      expect(await shell('cat "$1"', at('d', 'file'))).toBe('inside');
    });

    it.each([
      ['who has started it', false],
      ['who has started it and its host', true],
    ])('leaves nothing when %s is killed', async (_, both) => {
      mkdirSync(at());
      const { program, words } = backendOf(name).command({
        folder: at(),
        name: 'orphan',
        patienceMs: 5000,
        cache: here.cache,
        cacheBytes: 0,
        label: 'me',
        locks: false,
      });
      const parent = `require('child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 3], detached: true }); setInterval(() => {}, 1000)`;
      const cache = openSync(here.cache, 'r');
      const starter = spawn(process.execPath, ['-e', parent, program, ...words], {
        stdio: ['ignore', 'ignore', 'inherit', cache],
      });
      await expect.poll(() => mountedAt(at()), { interval: 20 }).toBeDefined();
      const host = here.hostPid();
      if (both) process.kill(host, 'SIGKILL');
      starter.kill('SIGKILL');
      await once(starter, 'exit');
      await expect.poll(() => mountedAt(at()), { interval: 20 }).toBeUndefined();
      await expect.poll(() => shell('pgrep -f "$1" || echo none', `[ ]${at()} orphan`)).toBe('none');
      // Nor a thread of it that the kernel holds: such a process is a zombie that has more than one.
      await expect.poll(() => threadsOf(host)).toBeLessThanOrEqual(1);
    });
  });
}

/** 0 of a process that is not there. */
function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}
