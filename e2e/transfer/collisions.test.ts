// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastOf, run, Sandbox } from '../harness/sandbox.ts';
import { readContents, readTree, setTime, writeRandom } from '../harness/tree.ts';

const SUCCESS = { sender: 0, receiver: 0 };
const MIB = 1 << 20;

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  await mkdir(room.path('source'));
  await mkdir(room.path('out', 'source'), { recursive: true });
});
afterEach(() => room.close());

async function collide(names: string[]): Promise<void> {
  for (const name of names) {
    await writeFile(room.path('source', name), `new ${name}`);
    await writeFile(room.path('out', 'source', name), `old ${name}`);
    // Files written within one tick of the kernel's clock have the same time, and these have the same size.
    setTime(room.path('out', 'source', name), '2001-01-01');
  }
}

async function textsOf(directory: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of await readdir(directory)) texts[name] = await readFile(`${directory}/${name}`, 'utf8');
  return texts;
}

describe('a name that is taken', () => {
  it('stays unchanged: the new file gets a number, once, however often it is sent', async () => {
    await collide(['report.tar.gz', 'noextension', '.hidden']);
    for (const times of [1, 2, 3]) {
      const { exits, receiver } = await room.transfer(['source']);
      expect(exits).toEqual(SUCCESS);
      expect(lastOf(receiver)).toMatchObject(times === 1 ? { files: 3, skipped: 0 } : { files: 0, skipped: 3 });
      expect(await textsOf(room.path('out', 'source'))).toEqual({
        '.hidden': 'old .hidden',
        '.hidden (1)': 'new .hidden',
        noextension: 'old noextension',
        'noextension (1)': 'new noextension',
        'report.tar.gz': 'old report.tar.gz',
        'report.tar (1).gz': 'new report.tar.gz',
      });
    }
    await writeFile(room.path('source', 'noextension'), 'newer');
    expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
    expect(await readFile(room.path('out', 'source', 'noextension (2)'), 'utf8')).toBe('newer');
  });

  it('of a file stays unchanged when a folder comes: the folder gets a number', async () => {
    await mkdir(room.path('source', 'both'));
    await writeFile(room.path('source', 'both', 'inside'), 'new');
    await writeFile(room.path('out', 'source', 'both'), 'old');
    expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
    expect([...(await readTree(room.path('out', 'source'))).keys()]).toEqual(['both', 'both (1)', 'both (1)/inside']);
  });

  it('of a folder stays unchanged when a file comes: the file gets a number', async () => {
    await mkdir(room.path('out', 'source', 'both'));
    await writeFile(room.path('source', 'both'), 'new');
    expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
    expect([...(await readTree(room.path('out', 'source'))).keys()]).toEqual(['both', 'both (1)']);
  });

  it('is replaced with --overwrite, small or large', async () => {
    await collide(['small']);
    await writeRandom(room.path('source', 'large'), 3 * MIB);
    await writeRandom(room.path('out', 'source', 'large'), 4 * MIB);
    const { exits } = await room.transfer(['source'], { receive: ['--overwrite'] });
    expect(exits).toEqual(SUCCESS);
    expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
  });

  it('is kept with --skip, and only missing files arrive', async () => {
    await collide(['taken']);
    await writeFile(room.path('source', 'missing'), 'new missing');
    const { exits, receiver } = await room.transfer(['source'], { receive: ['--skip'] });
    expect(exits).toEqual(SUCCESS);
    expect(lastOf(receiver)).toMatchObject({ files: 1, skipped: 1 });
    expect(await textsOf(room.path('out', 'source'))).toEqual({ taken: 'old taken', missing: 'new missing' });
  });

  it('is asked about with --ask, one name at a time, and each answer is followed', async () => {
    await collide(['a', 'b', 'c']);
    await room.send(['source']);
    const receiver = await room.startOnTerminal(['receive', '7-guitar-pencil', '--yes', '--ask', '--out', 'out']);
    const expected: Record<string, string> = {};
    const answers = ['o', 's', 'r'];
    for (const [i, answer] of answers.entries()) {
      const question = new RegExp(`^(?:[^]*?"source/([abc])" exists already and differs){${i + 1}}[^]*?for all: `);
      const [, name = ''] = await receiver.shows(question);
      receiver.type(`${answer}\r`);
      Object.assign(
        expected,
        {
          o: { [name]: `new ${name}` },
          s: { [name]: `old ${name}` },
          r: { [name]: `old ${name}`, [`${name} (1)`]: `new ${name}` },
        }[answer],
      );
    }
    expect(await receiver.ended).toBe(0);
    expect(await textsOf(room.path('out', 'source'))).toEqual(expected);
  });

  it('is asked about once with --ask if a capital letter answers for all', async () => {
    await collide(['a', 'b', 'c']);
    await room.send(['source']);
    const receiver = await room.startOnTerminal(['receive', '7-guitar-pencil', '--yes', '--ask', '--out', 'out']);
    await receiver.shows(/for all: /);
    receiver.type('O\r');
    expect(await receiver.ended).toBe(0);
    expect(await readContents(room.path('out'))).toEqual(
      new Map([...(await readContents(room.path('source')))].map(([path, digest]) => [`source/${path}`, digest])),
    );
  });
});

describe('--verify', () => {
  it('accepts files that just arrived, and files that were there before', async () => {
    await writeRandom(room.path('source', 'large'), 3 * MIB + 7);
    await writeFile(room.path('source', 'small'), 'content');
    await writeFile(room.path('source', 'empty'), '');
    for (const files of [3, 0]) {
      const { exits, receiver } = await room.transfer(['source'], { receive: ['--verify'] });
      expect(exits).toEqual(SUCCESS);
      expect(lastOf(receiver)).toMatchObject({ event: 'done', files, skipped: 3 - files });
    }
  });

  it.each([
    ['small', 7],
    ['large', 2 * MIB + 5],
  ])('fetches a %s file again if the one on disk differs from the sent one', async (name, size) => {
    await writeRandom(room.path('source', name), size);
    await writeFile(room.path('source', 'other'), 'content');
    expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
    const placed = room.path('out', 'source', name);
    const time = run('stat', '--format', '%y', placed).trim();
    const content = await readFile(placed);
    content[size - 1] = (content[size - 1] ?? 0) ^ 1;
    await writeFile(placed, content);
    setTime(placed, time);

    expect((await room.transfer(['source'])).exits, 'without --verify it counts as up to date').toEqual(SUCCESS);
    const { sender, receiver, exits } = await room.transfer(['source'], { receive: ['--verify'] });
    expect(exits).toEqual(SUCCESS);
    expect(receiver.events().filter(({ event }) => event === 'warning')).toMatchObject([{ path: `source/${name}` }]);
    for (const side of [sender, receiver]) {
      expect(lastOf(side)).toMatchObject({ event: 'done', files: 1, bytes: size, skipped: 1 });
    }
    expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
  });

  it.each([[], ['--skip']])(
    'makes the next run replace a file that it found damaged, whatever the options: %j',
    async (...policy) => {
      await writeFile(room.path('source', 'file'), 'content');
      expect((await room.transfer(['source'])).exits).toEqual(SUCCESS);
      await writeFile(room.path('out', 'source', 'file'), 'c0ntent');
      // The mark that e2e/hostile/verify.test.ts checks.
      setTime(room.path('out', 'source', 'file'), '1970-01-01 00:00:00.000000001 +0000');
      expect((await room.transfer(['source'], { receive: policy })).exits).toEqual(SUCCESS);
      expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
    },
  );
});
