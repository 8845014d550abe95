// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeibiError } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shell } from '../test/outside.ts';
import { type ChangedFile, LocalSource, type Mount, type MountOptions, mount, whyNotMountable } from './index.ts';
import type { SourceWrites } from './mount-source.ts';

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

/** A folder whose puts a test can hold up, refuse and count. */
class SlowSource extends LocalSource {
  override readonly writes: SourceWrites;
  /** What puts wait for. */
  held: Promise<unknown> = Promise.resolve();
  puts: ChangedFile[] = [];

  constructor(path: string) {
    super(path);
    const real = new LocalSource(path).writes as SourceWrites;
    const put: SourceWrites['put'] = async (file, options) => {
      this.puts.push(file);
      await Promise.race([this.held, aborted(options.signal)]);
      return real.put(file, options);
    };
    this.writes = new Proxy(real, {
      get: (target, name) => (name === 'put' ? put : Reflect.get(target, name).bind(target)),
    });
  }
}

const never = new Promise(() => {});
const { signal } = new AbortController();
const RANDOM = fileURLToPath(new URL('../test/random-writes.mjs', import.meta.url));
const TREE = `cd "$1" && find . -mindepth 1 \\( -type d -printf '%P d %m\\n' -o -printf '%P %y %m %s %T@ %l\\n' \\) | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum`;
/** Runs a program of Node's elsewhere: `fs`, `at` (the folder) and `words` are there. */
const node = (program: string, ...words: string[]) =>
  shell(
    `exec "$1" -e "const fs = require('fs'); const [at, ...words] = process.argv.slice(1); $2" "$3" "$4"`,
    process.execPath,
    program,
    ...words,
  );

describe.skipIf(reason !== undefined)('a mounted folder that is written', { timeout: 60_000 }, () => {
  let folder: string;
  let source: SlowSource;
  let shown: Mount;
  const at = (...names: string[]) => join(folder, 'mounted', ...names);
  const there = (...names: string[]) => join(folder, 'source', ...names);
  const show = async (more: Partial<MountOptions> = {}) => {
    shown = await mount({ source, folder: at(), cache: join(folder, 'cache'), label: 'me', signal, ...more });
  };
  const sent = (name: string, text: string) =>
    expect.poll(() => existsSync(there(name)) && readFileSync(there(name), 'utf8'), { timeout: 10_000 }).toBe(text);

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-write-')));
    for (const name of ['source', 'cache']) mkdirSync(join(folder, name));
    source = new SlowSource(there());
  });
  afterEach(async () => {
    source.held = Promise.resolve();
    await shown?.unmount({ force: true });
    await source.close();
    rmSync(folder, { recursive: true });
  });

  it('makes, renames, changes and removes what it is told to, at once on both sides', async () => {
    await show();
    const done = await shell(
      `cd "$1" && mkdir -m 750 d d/e && echo file > f && ln -s d/e link && mv f d/e/g && cp d/e/g d/h && chmod 600 d/h &&
       touch -d '2001-02-03 04:05:06.789012' d/e/g && touch -h -d @5 link && echo gone > x && rm x && mkdir y && rmdir y &&
       echo over > o && mv o d/h && umask 077 && : > private && mv -T d moved && ls -A`,
      at(),
    );
    expect(done).toBe('link\nmoved\nprivate');
    await sent('moved/h', 'over\n');
    expect(await shell('sync "$1/moved/e/g"', at())).toBe('');
    expect(await shell(TREE, at())).toBe(await shell(TREE, there()));
    expect(statSync(there('moved', 'e', 'g')).mtimeMs).toBeCloseTo(981173106789.012, 2);
    expect(statSync(there('private')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['mkdir d', /File exists/],
    ['rmdir d', /not empty/],
    ['rm none', /No such file/],
    ['mv d/f/x y', /Not a directory/],
    ['ln d/f hard', /not permitted/],
    ['mkfifo pipe', /not permitted/],
    ['chown 12345 d/f', /not permitted/],
    ['chmod u+s d/f', /not permitted/],
    [`: > $(printf 'x%.0s' $(seq 256))`, /name too long/],
    [': > .keibidrop-partial-x', /not permitted/],
    ['mv d d/below', /subdirectory of itself/],
    ['set -C; : > d/f', /exist/],
    ['setfattr -n trusted.x -v y d/f', /not supported|not found/],
  ])('says why %s cannot be', async (line, why) => {
    mkdirSync(there('d'));
    writeFileSync(there('d', 'f'), 'file');
    await show();
    expect(await shell(`cd "$1"; ${line}`, at())).toMatch(why);
    expect(await shell('cd "$1"; find . | sort', there())).toBe('.\n./d\n./d/f');
    expect(readFileSync(there('d', 'f'), 'utf8')).toBe('file');
  });

  it('does not make what has come meanwhile, and opens it where that will do', async () => {
    await show();
    expect(await shell('cat "$1/f" "$1/g"', at())).toContain('No such file');
    writeFileSync(there('f'), 'theirs');
    writeFileSync(there('g'), 'theirs');
    expect(await node(`fs.openSync(at + '/f', 'wx')`, at())).toContain('EEXIST');
    expect(await node(`fs.appendFileSync(at + '/g', ' and ours')`, at())).toBe('');
    await sent('g', 'theirs and ours');
  });

  it('keeps what was written to a file that was there, wherever it was written', async () => {
    const before = Buffer.alloc(5 * 2 ** 20 + 77, 'before ');
    writeFileSync(there('f'), before);
    await show();
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
    for (const [name, expected] of Object.entries({ f: file, copy })) {
      expect(readFileSync(there(name)).equals(expected), name).toBe(true);
      expect(await shell('cmp "$1" "$2"', at(name), there(name))).toBe('');
    }
  });

  it.each([1, 2, 3])(
    'stays the same as a copy in memory under everything that can be done to it (seed %i)',
    async (seed) => {
      await show({ cacheBytes: 2 ** 20 });
      expect(await shell('exec "$@"', process.execPath, RANDOM, at(), there(), `${seed}`, '4000')).toBe('same');
      expect(await shell('ls "$1"', there())).toMatch(/^random-\d[ab]?$/);
    },
  );

  it('has on the disk there what fsync has answered for, whatever happens then', async () => {
    await show();
    const text = 'x'.repeat(3_000_000);
    const pid = execFileSync('pgrep', ['-f', `keibidrop-mount ${at()}`], { encoding: 'utf8' });
    const writer = `const f = fs.openSync(at + '/f', 'w'); fs.writeSync(f, 'x'.repeat(3000000)); fs.fsyncSync(f); process.kill(${pid.trim()}, 'SIGKILL');`;
    await node(writer, at());
    expect(readFileSync(there('f'), 'utf8') === text).toBe(true);
    expect(source.puts.at(-1)?.sync).toBe(true);
    await expect(shown.closed).rejects.toBeInstanceOf(KeibiError);
  });

  it('lets who has a removed file open go on with it, and puts nothing of it there', async () => {
    await show();
    const program = `
      const f = fs.openSync(at + '/f', 'w+'); fs.writeSync(f, 'one'); fs.unlinkSync(at + '/f'); fs.writeSync(f, 'two', 3);
      const o = fs.openSync(at + '/o', 'w+'); fs.writeSync(o, 'old'); fs.writeFileSync(at + '/n', 'new'); fs.renameSync(at + '/n', at + '/o');
      fs.writeSync(o, 'er', 3); fs.fsyncSync(o); fs.fsyncSync(f);
      const all = Buffer.alloc(9); console.log(all.toString('utf8', 0, fs.readSync(f, all, 0, 9, 0)), fs.fstatSync(f).size, fs.fstatSync(o).size, fs.readFileSync(at + '/o', 'utf8'));`;
    expect(await node(program, at())).toBe('onetwo 6 5 new');
    await sent('o', 'new');
    expect(readdirSync(there())).toEqual(['o']);
  });

  it('keeps both when another has changed the same file', async () => {
    const base = Buffer.alloc(200_000, 'base ');
    writeFileSync(there('f.txt'), base);
    await show();
    let go = () => {};
    source.held = new Promise<void>((resolve) => {
      go = resolve;
    });
    expect(
      await shell('sha256sum < "$1"; printf ours | dd of="$1" bs=1 seek=100 conv=notrunc status=none', at('f.txt')),
    ).toMatch(/ -$/);
    await expect.poll(() => source.puts.length).toBe(1);
    writeFileSync(there('f.txt'), 'theirs');
    go();
    const today = await shell('date +%F');
    const aside = `f (conflict ${today} me).txt`;
    const ours = Buffer.from(base);
    ours.write('ours', 100);
    await expect
      .poll(() => existsSync(there(aside)) && readFileSync(there(aside)).equals(ours), { timeout: 5000 })
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
    await show();
    let go = () => {};
    source.held = new Promise<void>((resolve) => {
      go = resolve;
    });
    expect(await shell('cat "$1"; printf B | dd of="$1" bs=1 conv=notrunc status=none', at('d', 'f'))).toBe(
      'base text',
    );
    await expect.poll(() => source.puts.length).toBe(1);
    rmSync(there('d'), { recursive: true });
    go();
    await sent('d/f', 'Base text');
    expect(await shell('cat "$1"', at('d', 'f'))).toBe('Base text');
  });

  it('takes what comes while the peer is away, and sends it when it is back', async () => {
    writeFileSync(there('f'), 'before');
    await show({ patienceMs: 500 });
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
    await sent('f', 'after');
    expect(await shown.unmount()).toEqual({ unsent: 0 });
  });

  it('sends everything before it is unmounted, and says what force gives up', async () => {
    await show();
    await shell(
      'for i in $(seq 100); do echo $i > "$1/$i"; done; dd if=/dev/zero of="$1/large" bs=1M count=40 status=none',
      at(),
    );
    expect(await shown.unmount()).toEqual({ unsent: 0 });
    expect(readFileSync(there('77'), 'utf8')).toBe('77\n');
    expect(statSync(there('large')).size).toBe(40 * 2 ** 20);
    await show();
    source.held = never;
    await shell('for i in 1 2 3; do echo other > "$1/$i"; done', at());
    expect(await shown.unmount({ force: true })).toEqual({ unsent: 3 });
    expect(readFileSync(there('1'), 'utf8')).toBe('1\n');
  });

  it('keeps what does not fit on the disk there, says so, and sends it when there is room', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', there()]);
    try {
      await show();
      writeFileSync(there('filler'), Buffer.alloc(2 ** 20));
      const program = `const f = fs.openSync(at + '/f', 'w'); fs.writeSync(f, Buffer.alloc(1500000, 'x')); fs.fsyncSync(f);`;
      expect(await node(program, at())).toContain('ENOSPC');
      expect(await shell('head -c 3 "$1"; stat -c %s "$1"', at('f'))).toBe('xxx1500000');
      rmSync(there('filler'));
      await expect
        .poll(() => readFileSync(there('f')).equals(Buffer.alloc(1_500_000, 'x')), { timeout: 20_000 })
        .toBe(true);
      expect(readdirSync(there())).toEqual(['f']);
      await shown.unmount();
    } finally {
      execFileSync('umount', ['-l', there()]);
    }
  });

  it('carries a repository and a database, and takes the echo of its own changes for no other', async () => {
    await show();
    const lines = `cd "$1" && git init -q r && cd r && git config user.name n && git config user.email e@x && for i in $(seq 60); do echo $i > $i; done &&
      git add . && git commit -qm one && for i in $(seq 30); do echo more >> $i; done && git commit -qam two && git checkout -q HEAD~1 && git checkout -q - &&
      git gc -q && git fsck --strict 2>&1 && git status --porcelain && git log --oneline | wc -l`;
    expect(await shell(lines, at())).toBe('2');
    expect(await shell('cd "$1/r" && git status --porcelain && git fsck 2>&1 && ls -A "$1"', there())).toBe('r');
    if (!existsSync('/usr/bin/sqlite3')) return console.warn('SKIPPED: no sqlite3');
    const insert =
      'with recursive n(x) as (values(1) union all select x+1 from n where x<2000) insert into t select x, hex(randomblob(50)) from n;';
    expect(
      await shell(
        `cd "$1" && for mode in delete wal truncate; do sqlite3 db "pragma journal_mode=$mode; create table if not exists t(a, b); ${insert}" && sqlite3 db "delete from t where a % 3 = 0; ${insert} pragma integrity_check;"; done | grep -v -e delete -e wal -e truncate; sqlite3 db 'select count(*) from t'`,
        at(),
      ),
    ).toMatch(/^ok\nok\nok\n\d+$/);
    await shell('sync "$1/db"', at());
    expect(await shell('sqlite3 "$1/db" "pragma integrity_check"; ls "$1"', there())).toBe('ok\ndb\nr');
  });

  it('lets no more be dirty than there may be, and nobody wait for ever', async () => {
    await show({ patienceMs: 1000 });
    source.held = never;
    const written = await shell('dd if=/dev/zero of="$1/f" bs=1M count=400 2>&1 | tail -1', at());
    expect(written).toMatch(/^26\d{7} bytes/);
    expect(await shell('ls "$1"', at())).toBe('f');
  });
});

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
