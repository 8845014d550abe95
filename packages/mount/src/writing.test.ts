// SPDX-License-Identifier: MPL-2.0
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MountedFolder, never } from '../test/mounted-folder.ts';
import { shell } from '../test/outside.ts';
import { usableBackend } from './index.ts';

const reason = await usableBackend('native').then(
  () => undefined,
  (failure: Error) => failure.message,
);
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

const RANDOM = fileURLToPath(new URL('../test/random-writes.mjs', import.meta.url));

describe.skipIf(reason !== undefined)('a mounted folder that much is written in', () => {
  const here = new MountedFolder('native');

  it.each([2, 3])(
    'stays the same as a copy in memory under everything that can be done to it (seed %i)',
    async (seed) => {
      await here.show({ cacheBytes: 2 ** 20 });
      const words = [process.execPath, RANDOM, here.at(), here.there(), `${seed}`, '4000'];
      expect(await shell('exec "$@"', ...words)).toBe('same');
      expect(await shell('ls "$1"', here.there())).toMatch(/^random-\d[ab]?$/);
    },
  );

  it('tells the time of a directory as it is there, whatever was just done in it', async () => {
    await here.show();
    const works = ['mkdir "$1/d"', 'touch "$1/d/a"', 'mkdir "$1/d/b"', 'ln -s x "$1/d/c"', 'mv "$1/d/a" "$1/d/e"'];
    for (const work of [...works, 'rm "$1/d/e"', 'rmdir "$1/d/b"']) {
      await shell(work, here.at());
      expect(await shell('stat -c %y "$1/d"', here.at()), work).toBe(await shell('stat -c %y "$1/d"', here.there()));
    }
  });

  it('carries a repository, and takes the echo of its own changes for no other', async () => {
    await here.show();
    const lines = `cd "$1" && git init -q r && cd r && git config user.name n && git config user.email e@x && for i in $(seq 60); do echo $i > $i; done &&
      git add . && git commit -qm one && for i in $(seq 30); do echo more >> $i; done && git commit -qam two && git checkout -q HEAD~1 && git checkout -q - &&
      git gc -q && git fsck --strict 2>&1 && git status --porcelain && git log --oneline | wc -l`;
    expect(await shell(lines, here.at())).toBe('2');
    expect(await shell('cd "$1/r" && git status --porcelain && git fsck 2>&1 && ls -A "$1"', here.there())).toBe('r');
  });

  it.skipIf(!existsSync('/usr/bin/sqlite3'))('carries a database in each journal mode (needs sqlite3)', async () => {
    await here.show();
    const insert =
      'with recursive n(x) as (values(1) union all select x+1 from n where x<2000) insert into t select x, hex(randomblob(50)) from n;';
    expect(
      await shell(
        `cd "$1" && for mode in delete wal truncate; do sqlite3 db "pragma journal_mode=$mode; create table if not exists t(a, b); ${insert}" && sqlite3 db "delete from t where a % 3 = 0; ${insert} pragma integrity_check;"; done | grep -v -e delete -e wal -e truncate; sqlite3 db 'select count(*) from t'`,
        here.at(),
      ),
    ).toMatch(/^ok\nok\nok\n\d+$/);
    await shell('sync "$1/db"', here.at());
    expect(await shell('sqlite3 "$1/db" "pragma integrity_check"; ls "$1"', here.there())).toBe('ok\ndb');
  });

  it('is not asked for attributes that it cannot have before each write and for each line of a list', async () => {
    const files = 300;
    const writes = 1000;
    for (let i = 0; i < files; i++) writeFileSync(here.there(`${i}`), '');
    writeFileSync(here.there('large'), Buffer.alloc(4096 * writes));
    await here.show();
    // Each request of the kernel is a read of the host's, which hears little else meanwhile.
    const reads = () => Number(/^syscr: (\d+)$/m.exec(readFileSync(`/proc/${here.hostPid()}/io`, 'utf8'))?.[1]);
    const requests = async (line: string) => {
      const before = reads();
      expect(await shell(line, here.at())).toBe('');
      return reads() - before;
    };
    expect(await requests('ls -l "$1" > "$1/../listed"')).toBeLessThan(files / 2);
    const write = `dd if=/dev/zero of="$1/large" bs=4096 count=${writes} conv=notrunc status=none`;
    expect(await requests(write)).toBeLessThan(1.5 * writes);
  });

  it('refuses changes that it would not keep: bits, times and reserved room', async () => {
    writeFileSync(here.there('f'), 'file', { mode: 0o644 });
    utimesSync(here.there('f'), 1, 1);
    mkdirSync(here.there('d'), { mode: 0o755 });
    await here.show();
    for (const mode of ['1777', '2755', '4755']) {
      expect(await shell(`chmod ${mode} "$1/d"`, here.at())).toContain('not permitted');
      expect(
        await shell('perl -e "exit(mkdir(shift, oct(shift)) ? 0 : 7)" "$1/new" $2 || echo no', here.at(), '01755'),
      ).toBe('no');
    }
    expect(await shell('touch -d @17179869184 "$1/f"', here.at())).toContain('Invalid argument');
    expect(await shell('touch -d @-17179869184 "$1/d"', here.at())).toContain('Invalid argument');
    expect(await shell('touch -a "$1/f"', here.at())).toContain('not supported');
    expect(await shell('fallocate -l 100000 "$1/f"', here.at())).toContain('not supported');
    const same = 'stat -c "%a %Y %s" "$1/f" && stat -c %a "$1/d" && ls "$1"';
    expect(await shell(same, here.at())).toBe('644 1 4\n755\nd\nf');
    expect(await shell(same, here.there())).toBe('644 1 4\n755\nd\nf');
    // Together with the time of change it is what every program gives that copies.
    expect(await shell('touch -d @9000000000 "$1/f" && stat -c "%X %Y" "$1/f"', here.at())).toBe(
      '9000000000 9000000000',
    );
  });

  it('shows the current directory to a program that rewinds it', async () => {
    await here.show();
    const rewind = `opendir(my $d, '.'); my $before = readdir($d); () = readdir($d);
      mkdir('made'); rewinddir($d); print join(' ', sort readdir($d)); rmdir('made'); rewinddir($d); print ',', join(' ', sort readdir($d))`;
    expect(await shell('cd "$1" && perl -e "$2"', here.at(), rewind)).toBe('. .. made,. ..');
  });

  it('limits unsent data, and leaves no writer waiting for ever', async () => {
    await here.show({ patienceMs: 1000 });
    here.source.putsHeld = never;
    const lines = 'dd if=/dev/zero of="$1/f" bs=1M count=400 2>&1 | grep -c "timed out"; stat -c %s "$1/f"';
    expect(await shell(lines, here.at()), 'by the write, and by close').toMatch(/^[12]\n26\d{7}$/);
    expect(await shell('ls "$1"', here.at())).toBe('f');
  });
});
