// SPDX-License-Identifier: MPL-2.0
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LISTEN } from '../../harness/sandbox.ts';
import { MountedShare } from '../mounted-share.ts';
import { needs } from './needs.ts';

let share: MountedShare;
beforeAll(async () => {
  share = await MountedShare.open({ patienceMs: 10_000 });
});
afterEach(() => share?.shell('rm -rf bob/far/*'));
afterAll(() => share?.close());

/** Lists differences between both sides, modes, times and targets included. */
const isSame = () => share.shell('rsync -nac --itemize-changes --delete bob/far/ anna/work/');

describe('fio, which verifies its writes', () => {
  for (const [what, options] of [
    ['random 4 KiB, with fsync', '--rw=randwrite --bs=4k --size=24M --fsync=16 --numjobs=2'],
    ['random of 4 to 64 KiB, with reads between', '--rw=randrw --bsrange=4k-64k --size=48M --verify_backlog=64'],
    ['sequential 1 MiB', '--rw=write --bs=1M --size=128M --end_fsync=1 --numjobs=2'],
    ['random 4 KiB, mapped', '--rw=randwrite --bs=4k --size=16M --ioengine=mmap'],
    ['random 16 KiB, eight at once', '--rw=randwrite --bs=16k --size=32M --ioengine=libaio --iodepth=8 --direct=1'],
  ] as const) {
    it(what, async (context) => {
      const fio = needs('fio', context);
      const line = `${fio} --name=job --verify=crc32c --verify_fatal=1 --minimal ${options} --do_verify=1`;
      expect(await share.shell(`cd bob/far && ${line} > ../../fio.txt`, 180)).toBe('');
      expect(
        await share.shell('sync bob/far/job*; cd anna/work; for f in job*; do cmp $f ../../bob/far/$f; done'),
      ).toBe('');
    });
  }
});

describe('a small project', () => {
  it('is configured, compiled, changed and compiled again by make', async (context) => {
    for (const program of ['make', 'gcc']) needs(program, context);
    const maker = fileURLToPath(new URL('small-project.sh', import.meta.url));
    expect(
      await share.shell(
        `cd bob/far && sh ${maker} project && cd project && ./configure && make -j2 2>&1 | tail -1 && ./sum`,
        120,
      ),
    ).toMatch(/\n465$/);
    expect(await share.shell('cd bob/far/project && make -j2')).toMatch(/is up to date/);
    // Changes one header, which three of thirty files include.
    expect(
      await share.shell(
        'cd bob/far/project && sed -i \'s/ 7$/ 1007/\' part7.h && make 2>&1 | grep -c "^cc\\|^gcc" && ./sum',
        120,
      ),
    ).toBe('3\n1465');
    expect(
      await share.shell(
        'sync -f bob/far; until [ -z "$(rsync -nac --itemize-changes bob/far/ anna/work/)" ]; do sleep 0.1; done; cd anna/work/project && make -q && ./sum',
      ),
    ).toBe('1465');
    expect(
      await share.shell(
        'cd bob/far/project && make clean > /dev/null && ls | grep -c "[.]o$\\|[.]a$"; ls ../../../anna/work/project/*.o 2>&1 | tail -1',
      ),
    ).toMatch(/^0\n.*No such file/);
  });
});

describe('SQLite, two processes at once', () => {
  for (const [journal, rows] of [
    ['delete', 150],
    ['wal', 300],
  ] as const) {
    it(`with journal_mode ${journal}`, async (context) => {
      const sqlite = needs('sqlite3', context);
      const sql = (file: string, text: string) => `${sqlite} -cmd '.timeout 30000' ${file} "${text}"`;
      expect(
        await share.shell(sql('bob/far/base', `pragma journal_mode=${journal}; create table t(who, n, text)`)),
      ).toBe(journal);
      const insert = (who: string) =>
        `for i in $(seq ${rows / 10}); do ${sql('bob/far/base', `pragma synchronous=full; begin immediate; with recursive c(n) as (select 1 union all select n+1 from c where n<10) insert into t select '${who}', n, hex(randomblob(500)) from c; commit`)} || exit 1; done`;
      expect(await share.shell(`(${insert('a')}) & (${insert('b')}) & wait`, 300)).toBe('');
      expect(await share.shell(sql('bob/far/base', 'pragma wal_checkpoint(truncate)'))).toMatch(/^(0\|.*)?$/);
      const look = 'pragma integrity_check; select who, count(*) from t group by who';
      const sound = `ok\na|${rows}\nb|${rows}`;
      expect(await share.shell(sql('bob/far/base', look))).toBe(sound);
      expect(await share.shell('sync bob/far/base; cmp bob/far/base anna/work/base')).toBe('');
      expect(await share.shell(sql('anna/work/base', look))).toBe(sound);
    });
  }
});

describe('rsync -c', () => {
  it('copies a tree into the mount and out of it, and then finds nothing to copy', async (context) => {
    needs('rsync', context);
    await share.shell(
      'mkdir -p tree/a/b tree/empty && for i in $(seq 300); do head -c $((i * 97 % 30000)) /dev/urandom > tree/a/b/$i; done; head -c 20000000 /dev/urandom > tree/large; ln -s a/b/7 tree/link; chmod 600 tree/a/b/9; chmod 750 tree/a/b/10; touch -d @1000000000 tree/a/b/11 tree/a/b',
    );
    expect(await share.shell('rsync -ac tree/ bob/far/tree/', 120)).toBe('');
    expect(await share.shell('rsync -nac --itemize-changes tree/ bob/far/tree/')).toBe('');
    expect(
      await share.shell(
        'sync -f bob/far/tree; until [ -z "$(rsync -nac --itemize-changes tree/ anna/work/tree/)" ]; do sleep 0.1; done; echo same',
      ),
    ).toBe('same');
    expect(
      await share.shell(
        'rsync -ac bob/far/tree/ out/ && rsync -nac --delete --itemize-changes bob/far/tree/ out/ && diff -r tree out',
        120,
      ),
    ).toBe('');
    await share.shell('for i in 1 2 3; do echo more >> tree/a/b/$i; done; rm tree/a/b/20; rm -r tree/empty');
    expect(
      await share.shell(
        'rsync -ac --delete --inplace tree/ bob/far/tree/ && rsync -nac --delete --itemize-changes tree/ bob/far/tree/ && sync -f bob/far/tree',
      ),
    ).toBe('');
    await expect.poll(isSame, { timeout: 20_000 }).toBe('');
  });
});

describe('an editor saves', () => {
  for (const backup of ['no', 'yes', 'auto']) {
    it(`vim, with a backup and a swap file, backupcopy=${backup}`, async (context) => {
      const vim = needs('vim', context);
      await writeFile(`${share.work}/text`, 'one\ntwo\n');
      await share.shell('until [ "$(cat bob/far/text)" = "$(cat anna/work/text)" ]; do sleep 0.02; done');
      const edit = `${vim} -N -u NONE -es -c 'set backupskip= backup writebackup swapfile backupdir=. directory=. backupcopy=${backup}' -c 'e text' -c '%s/two/three/' -c 'w' -c '$s/three/four/' -c 'wq'`;
      expect(await share.shell(`cd bob/far && ${edit} < /dev/null`)).toBe('');
      expect(await share.shell('sync bob/far/text; ls -A bob/far; cat bob/far/text bob/far/text~ anna/work/text')).toBe(
        'text\ntext~\none\nfour\none\nthree\none\nfour',
      );
      await expect.poll(isSame, { timeout: 10_000 }).toBe('');
    });
  }

  it('a file beside, fsynced and renamed over, with a copy of the old one, 200 times', async () => {
    const line =
      'cd bob/far && echo 0 > doc && for i in $(seq 200); do { ln -f doc doc~ 2>/dev/null || cp -p doc doc~; } && echo $i > .doc.tmp && sync .doc.tmp && mv -f .doc.tmp doc && [ "$(cat doc)" = $i ] || exit 1; done; ls -A';
    expect(await share.shell(line, 120)).toBe('doc\ndoc~');
    await expect.poll(isSame, { timeout: 10_000 }).toBe('');
    expect(await share.shell('cat anna/work/doc anna/work/doc~')).toBe('200\n199');
  });
});

describe('both directions at once', () => {
  it('each side mounts and changes the folder of the other while the other works in it', async () => {
    const { sandbox, sharing, mounting } = share;
    await share.shell('mkdir -p bob/own');
    const { event } = await mounting.command('add', sandbox.path('bob', 'own'), ...LISTEN);
    expect(await sharing.command('mount', event.code as string, sandbox.path('anna', 'back'))).toMatchObject({
      exit: 0,
    });
    const random = fileURLToPath(new URL('../../../packages/mount/test/random-writes.mjs', import.meta.url));
    const work = (folder: string, shared: string, seed: number) =>
      share.shell(`exec ${process.execPath} ${random} ${folder} ${shared} ${seed} 20000`, 60);
    const copy = (into: string, from: string) =>
      share.shell(
        `for i in $(seq 20); do rm -rf ${into}/t; cp -r tree-both ${into}/t && until diff -r ${into}/t ${from}/t > /dev/null 2>&1; do sleep 0.05; done; done; echo same`,
        60,
      );
    await share.shell('mkdir tree-both && for i in $(seq 50); do echo $i > tree-both/$i; done');
    expect(
      await Promise.all([
        work('bob/far', 'anna/work', 1),
        work('anna/back', 'bob/own', 2),
        copy('anna/work', 'bob/far'),
        copy('anna/back', 'bob/own'),
      ]),
    ).toEqual(['same', 'same', 'same', 'same']);
    expect(await sharing.command('unmount', sandbox.path('anna', 'back'))).toMatchObject({ exit: 0 });
  });
});
