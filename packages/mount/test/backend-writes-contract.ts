// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeibiError } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import type { BackendName, Mount } from '../src/index.ts';
import type { Differences } from './backend-contract.ts';
import { MountedFolder, never, node, TREE } from './mounted-folder.ts';
import { shell } from './outside.ts';

const RANDOM = fileURLToPath(new URL('./random-writes.mjs', import.meta.url));
/** Calls that neither the shell nor Node offers (x86-64): each fails with its errno as the exit code. */
const CALLS = `
  sub did { my $result = shift; exit($! + 0) if $result < 0; $result }
  sub rename2 { my ($from, $to, $how) = @_; did(syscall(316, -100, $from, -100, $to, $how)) }
  sub allocate { my ($path, $bytes) = @_; open(my $f, '+<', $path) or die; did(syscall(285, fileno($f), 0, 0, $bytes)) }
  sub setxattr { my ($path, $name, $value, $how) = @_; did(syscall(188, $path, $name, $value, length($value), $how)) }
  sub getxattr { my ($path, $name, $most) = @_; my $value = ' ' x 100; substr($value, 0, did(syscall(191, $path, $name, $value, $most))) }
  sub listxattr { my ($path) = @_; my $names = ' ' x 100; substr($names, 0, did(syscall(194, $path, $names, 100))) }
  sub removexattr { my ($path, $name) = @_; did(syscall(197, $path, $name)) }
`;
const [EINVAL, ERANGE, ENODATA, EEXIST, ENOTSUP] = [22, 34, 61, 17, 95];

/** Runs a Perl program in a folder. @returns  its output, then its exit status */
function perl(program: string, folder: string): Promise<string> {
  return shell('cd "$2" && perl -e "$1"; echo "=$?"', CALLS + program, folder);
}

/** The requirements of every mount backend for writes. */
export function describeBackendWrites(name: BackendName, differences: Differences): void {
  describe(`${name}: a mounted folder that is written`, () => {
    const here = new MountedFolder(name);
    const at = here.at.bind(here);
    const there = here.there.bind(here);

    it('makes, renames, changes and removes entries, at once on both sides', async () => {
      await here.show();
      const done = await shell(
        `cd "$1" && mkdir -m 750 d d/e && echo file > f && ln -s d/e link && mv f d/e/g && cp d/e/g d/h && chmod 600 d/h &&
         touch -d '2001-02-03 04:05:06.789' d/e/g && touch -h -d @5 link && echo gone > x && rm x && mkdir y && rmdir y &&
         echo over > o && mv o d/h && umask 077 && : > private && mv -T d moved && ls -A`,
        at(),
      );
      expect(done).toBe('link\nmoved\nprivate');
      await here.sent('moved/h', 'over\n');
      expect(await shell('sync "$1/moved/e/g"', at())).toBe('');
      const millis = (tree: string) => tree.replaceAll(/(\.\d{3})\d{7}/g, '$1');
      expect(millis(await shell(TREE, at()))).toBe(millis(await shell(TREE, there())));
      expect(statSync(there('moved', 'e', 'g')).mtimeMs).toBeCloseTo(981173106789, 2);
      expect(statSync(there('private')).mode & 0o777).toBe(0o600);
    });

    it('gives a file the time that it is given', async () => {
      writeFileSync(there('f'), 'file');
      await here.show();
      const before = statSync(there('f')).mtimeMs;
      await shell(`touch -d '2001-02-03 04:05:06.789012' "$1"`, at('f'));
      expect(statSync(there('f')).mtimeMs).toBeCloseTo(
        differences.timesInMilliseconds ? 981173106789 : 981173106789.012,
        3,
      );
      expect(await node(`fs.utimesSync(at + '/f', 1000, 2000)`, at())).toBe('');
      expect(statSync(there('f')).mtimeMs).toBe(differences.takesAccessTimeForMtime ? 1_000_000 : 2_000_000);
      expect(await shell('touch -m -d @3000 "$1"', at('f'))).toBe('');
      expect(statSync(there('f')).mtimeMs).toBe(differences.takesAccessTimeForMtime ? 1_000_000 : 3_000_000);
      expect(before).toBeGreaterThan(3_000_000);
    });

    it('says why something cannot be, and changes nothing', async () => {
      mkdirSync(there('d'));
      writeFileSync(there('d', 'f'), 'file');
      await here.show();
      for (const [line, why] of [
        ['mkdir d', /File exists/],
        ['rmdir d', /not empty/],
        ['rm none', /No such file/],
        ['mv d/f/x y', /Not a directory/],
        ['ln d/f hard', /not permitted/],
        ['mkfifo pipe', /not permitted/],
        ['chown 12345 d/f', /not permitted/],
        ['chmod u+s d/f', /not permitted/],
        [`: > $(printf 'x%.0s' $(seq 256))`, /name too long/],
        [`: > "$(printf '\\377')"`, /Invalid argument/],
        [': > .keibidrop-partial-x', /not permitted/],
        ['mv d d/below', /subdirectory of itself/],
        ['set -C; : > d/f', /exist/],
      ] as const)
        expect(await shell(`cd "$1"; ${line}`, at()), line).toMatch(why);
      expect(await shell('cd "$1"; find . | sort', there())).toBe('.\n./d\n./d/f');
      expect(readFileSync(there('d', 'f'), 'utf8')).toBe('file');
    });

    it('keeps extended attributes, those of people alone', async () => {
      writeFileSync(there('f'), 'file');
      await here.show();
      const done = `setxattr('f', 'user.a', 'red', 1); print getxattr('f', 'user.a', 100), getxattr('f', 'user.a', 0); print listxattr('f');
        removexattr('f', 'user.a'); setxattr('f', 'user.b', '', 0); getxattr('f', 'user.a', 100);`;
      // With a size of 0 it tells how long the value is: three of the blanks.
      expect(await perl(done, at())).toBe(`red   user.a\0=${ENODATA}`);
      expect(await perl(`print listxattr('f'); setxattr('f', 'user.b', 'x', 1)`, there())).toBe(`user.b\0=${EEXIST}`);
      expect(await perl(`setxattr('f', 'user.b', 'long', 2); getxattr('f', 'user.b', 2)`, at())).toBe(`=${ERANGE}`);
      expect(await perl(`setxattr('f', 'trusted.x', 'y', 0)`, at())).toBe(`=${ENOTSUP}`);
    });

    it('renames where nothing is, and exchanges, as renameat2 does', async () => {
      for (const one of ['a', 'b']) writeFileSync(there(one), one);
      await here.show();
      expect(await perl(`rename2('a', 'b', 1)`, at())).toBe(`=${EEXIST}`);
      expect(await perl(`rename2('a', 'c', 1); rename2('c', 'a', 1)`, at())).toBe(
        `=${differences.renamesPlainly ? EINVAL : 0}`,
      );
      expect(await perl(`rename2('a', 'b', 2)`, at())).toBe(`=${differences.renamesPlainly ? EINVAL : 0}`);
      expect(readFileSync(there('a'), 'utf8')).toBe(differences.renamesPlainly ? 'a' : 'b');
      expect(await perl(`allocate('a', 100000)`, at())).toBe(`=${ENOTSUP}`);
    });

    it('does not create a file that another program has created meanwhile, and opens it where allowed', async () => {
      await here.show();
      expect(await shell('cat "$1/f" "$1/g"', at())).toContain('No such file');
      writeFileSync(there('f'), 'theirs');
      writeFileSync(there('g'), 'theirs');
      expect(await node(`fs.openSync(at + '/f', 'wx')`, at())).toContain('EEXIST');
      const append = await node(`fs.appendFileSync(at + '/g', ' and ours')`, at());
      if (differences.makesOnlyWhatIsNew && append !== '') {
        expect(append).toContain('EEXIST');
        expect(await node(`fs.appendFileSync(at + '/g', ' and ours')`, at())).toBe('');
      } else {
        expect(append).toBe('');
      }
      await here.sent('g', 'theirs and ours');
    });

    it('keeps writes to an existing file at any offset', async () => {
      const before = Buffer.alloc(5 * 2 ** 20 + 77, 'before ');
      writeFileSync(there('f'), before);
      await here.show();
      expect(
        await shell(
          `cd "$1" && printf new | dd of=f bs=1 seek=3000000 conv=notrunc status=none && printf end >> f && truncate -s 5300000 f && cp f copy && truncate -s 200000 f && truncate -s 400000 f`,
          at(),
        ),
      ).toBe('');
      const copy = Buffer.alloc(5_300_000);
      before.copy(copy);
      copy.write('new', 3_000_000);
      copy.write('end', before.length);
      const file = Buffer.alloc(400_000);
      copy.copy(file, 0, 0, 200_000);
      await shell('sync "$1/f" "$1/copy"', at());
      for (const [one, expected] of Object.entries({ f: file, copy })) {
        expect(readFileSync(there(one)).equals(expected), one).toBe(true);
        expect(await shell('cmp "$1" "$2"', at(one), there(one))).toBe('');
      }
    });

    it('stays the same as a copy in memory under everything that can be done to it', async () => {
      await here.show({ cacheBytes: 2 ** 20 });
      expect(await shell('exec "$@"', process.execPath, RANDOM, at(), there(), '1', '800')).toBe('same');
      expect(await shell('ls -A "$1"', there())).toMatch(/^random-\d[ab]?$/);
    });

    it('has on the disk there what fsync has answered for, whatever happens then', async () => {
      const shown = await here.show();
      const writer = `const f = fs.openSync(at + '/f', 'w'); fs.writeSync(f, 'x'.repeat(3000000)); fs.fsyncSync(f); process.kill(${here.hostPid()}, 'SIGKILL');`;
      await node(writer, at());
      expect(readFileSync(there('f'), 'utf8') === 'x'.repeat(3_000_000)).toBe(true);
      expect(here.source.puts.at(-1)?.sync).toBe(true);
      await expect(shown.closed).rejects.toBeInstanceOf(KeibiError);
    });

    it('keeps an unlinked file usable through open handles, and leaves nothing of it there', async () => {
      await here.show();
      const program = `
        const f = fs.openSync(at + '/f', 'w+'); fs.writeSync(f, 'one'); fs.unlinkSync(at + '/f'); fs.writeSync(f, 'two', 3);
        const o = fs.openSync(at + '/o', 'w+'); fs.writeSync(o, 'old'); fs.writeFileSync(at + '/n', 'new'); fs.renameSync(at + '/n', at + '/o');
        fs.writeSync(o, 'er', 3); fs.fsyncSync(o); fs.fsyncSync(f);
        const all = Buffer.alloc(9); console.log(all.toString('utf8', 0, fs.readSync(f, all, 0, 9, 0)), fs.fstatSync(f).size, fs.fstatSync(o).size, fs.readFileSync(at + '/o', 'utf8'), fs.readdirSync('${there()}').filter((one) => one.startsWith('.fuse_hidden')).length);`;
      expect(await node(program, at())).toBe(`onetwo 6 5 new ${differences.hidesWhatIsOpen ? 2 : 0}`);
      await here.sent('o', 'new');
      await expect.poll(() => readdirSync(there()), { interval: 20 }).toEqual(['o']);
    });

    it('keeps both when another has changed the same file', async () => {
      const base = Buffer.alloc(200_000, 'base ');
      writeFileSync(there('f.txt'), base);
      await here.show();
      const go = here.source.holdPuts();
      const written = shell(
        'sha256sum < "$1"; printf ours | dd of="$1" bs=1 seek=100 conv=notrunc status=none',
        at('f.txt'),
      );
      await expect.poll(() => here.source.puts.length, { interval: 20 }).toBe(1);
      writeFileSync(there('f.txt'), 'theirs');
      go();
      expect(await written).toMatch(/ -$/);
      const aside = `f (conflict ${await shell('date +%F')} me).txt`;
      const ours = Buffer.from(base);
      ours.write('ours', 100);
      await expect
        .poll(() => existsSync(there(aside)) && readFileSync(there(aside)).equals(ours), {
          interval: 20,
        })
        .toBe(true);
      expect(readFileSync(there('f.txt'), 'utf8')).toBe('theirs');
      expect(await shell('until [ "$(cat "$1/f.txt")" = theirs ]; do sleep 0.05; done; ls "$1"', at())).toBe(
        `${aside}\nf.txt`,
      );
      expect(await shell('cmp "$1" "$2"', at(aside), there(aside))).toBe('');
    });

    it('makes a file again that another has removed while it was written', async () => {
      mkdirSync(there('d'));
      writeFileSync(there('d', 'f'), 'base text');
      await here.show();
      const go = here.source.holdPuts();
      const written = shell('cat "$1"; printf B | dd of="$1" bs=1 conv=notrunc status=none', at('d', 'f'));
      await expect.poll(() => here.source.puts.length, { interval: 20 }).toBe(1);
      rmSync(there('d'), { recursive: true });
      go();
      expect(await written).toBe('base text');
      await here.sent('d/f', 'Base text');
      expect(await shell('cat "$1"', at('d', 'f'))).toBe('Base text');
    });

    it('accepts writes while the peer is away, and sends them when it is back', async () => {
      writeFileSync(there('f'), 'before');
      const shown = await here.show({ patienceMs: 500 });
      await shell('cat "$1/f"', at());
      shown.setAway(true);
      expect(await shell('printf after > "$1/f"; cat "$1/f"', at())).toBe('after');
      expect(await node(`fs.fsyncSync(fs.openSync(at + '/f', 'r+'))`, at())).toContain('ETIMEDOUT');
      await expect(shown.unmount()).rejects.toMatchObject({
        code: 'MOUNT_BUSY',
        message: expect.stringContaining('1 changed file'),
      });
      expect(readFileSync(there('f'), 'utf8')).toBe('before');
      shown.setAway(false);
      await here.sent('f', 'after');
      expect(await shown.unmount()).toEqual({ unsent: 0 });
    });

    it('sends everything before it is unmounted, and counts what force leaves unsent', async () => {
      const first = await here.show();
      await shell(
        'for i in $(seq 40); do echo $i > "$1/$i"; done; dd if=/dev/zero of="$1/large" bs=1M count=20 status=none',
        at(),
      );
      expect(await first.unmount()).toEqual({ unsent: 0 });
      expect(readFileSync(there('37'), 'utf8')).toBe('37\n');
      expect(statSync(there('large')).size).toBe(20 * 2 ** 20);
      const second = await here.show({ patienceMs: 200 });
      here.source.putsHeld = never;
      // They are closed, or wait for it.
      const written = shell('for i in 1 2 3; do echo other > "$1/$i" & done; wait', at());
      await expect.poll(() => here.source.puts.filter(({ path }) => /^[123]$/.test(path)).length).toBeGreaterThan(5);
      expect(await second.unmount({ force: true })).toMatchObject({ unsent: 3 });
      await written;
      expect(readFileSync(there('1'), 'utf8')).toBe('1\n');
    });

    it.each([
      ['by force', (shown: Mount) => shown.unmount({ force: true })],
      ['by another program', (shown: Mount) => shell('fusermount3 -u -z "$1"', at()).then(() => shown.closed)],
    ])('puts aside what could not be sent before it was unmounted %s', async (_, unmounted) => {
      mkdirSync(there('d'));
      writeFileSync(there('d', 'changed.txt'), 'base text');
      writeFileSync(there('cut'), 'long text');
      writeFileSync(there('long'), Buffer.alloc(17 * 2 ** 20, 'long '));
      const shown = await here.show({ patienceMs: 1000 });
      await shell('cat "$1/d/changed.txt" "$1/cut"; head -c 5 "$1/long"', at());
      await shell('printf sent > "$1/sent"', at());
      shown.setAway(true);
      const write = `
        printf B | dd of="$1/d/changed.txt" bs=1 conv=notrunc status=none; truncate -s 4 "$1/cut"
        printf L | dd of="$1/long" bs=1 conv=notrunc status=none`;
      expect(await shell(write, at())).toBe('');
      const { unsent, keptIn } = await unmounted(shown);
      expect({ unsent, keptIn }).toEqual({ unsent: 3, keptIn: `${at()} (unsent ${await shell('date +%F')})` });
      const kept = (name: string) => join(keptIn ?? '', name);
      expect(readFileSync(kept('d/changed.txt'), 'utf8')).toBe('Base text');
      expect(readFileSync(kept('cut'), 'utf8')).toBe('long');
      // Most of it was never read.
      expect(readdirSync(kept('')).sort()).toEqual(['cut', 'd', 'long (incomplete)']);
      expect(readFileSync(kept('long (incomplete)')).subarray(0, 5).toString()).toMatch(/^L(ong |\0{4})$/);
      expect(statSync(kept('long (incomplete)')).size).toBe(17 * 2 ** 20);
      expect(readFileSync(there('d', 'changed.txt'), 'utf8')).toBe('base text');
    });

    it('keeps what does not fit on the disk there, says so, and sends it when there is room', async () => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', there()]);
      try {
        const shown = await here.show();
        writeFileSync(there('filler'), Buffer.alloc(2 ** 20));
        const program = `const f = fs.openSync(at + '/f', 'w'); fs.writeSync(f, Buffer.alloc(1500000, 'x')); fs.fsyncSync(f);`;
        expect(await node(program, at())).toContain('ENOSPC');
        expect(await shell('head -c 3 "$1"; stat -c %s "$1"', at('f'))).toBe('xxx1500000');
        rmSync(there('filler'));
        await expect
          .poll(() => readFileSync(there('f')).equals(Buffer.alloc(1_500_000, 'x')), { timeout: 20_000, interval: 50 })
          .toBe(true);
        expect(readdirSync(there())).toEqual(['f']);
        await shown.unmount();
      } finally {
        execFileSync('umount', ['-l', there()]);
      }
    });
  });
}
