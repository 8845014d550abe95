// SPDX-License-Identifier: MPL-2.0
import { mkdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { readTree } from '../harness/tree.ts';

// Names that a send leaves out.

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
  for (const name of [
    'project/.gitignore',
    'project/src/a.c',
    'project/src/a.o',
    'project/build/b',
    'project/note.tmp',
  ]) {
    await mkdir(room.path(name, '..'), { recursive: true });
    await writeFile(room.path(name), name.endsWith('.gitignore') ? '*.o\n' : name);
  }
});
afterEach(() => room.close());

const received = async () => [...(await readTree(room.path('in'))).keys()].sort();

describe('send', () => {
  it('leaves out what --exclude, --exclude-from and --gitignore name, and says how much', async () => {
    await writeFile(room.path('patterns'), '# not these\n/build/\n');
    const words = ['project', '--gitignore', '--exclude', '*.tmp', '--exclude-from', 'patterns'];
    const { sender, exits } = await room.transfer(words, { receive: ['--out', 'in'] });
    expect(exits).toEqual({ sender: 0, receiver: 0 });
    expect(await received()).toEqual(['project', 'project/.gitignore', 'project/src', 'project/src/a.c']);
    expect(sender.events().find(({ event }) => event === 'offer')).toMatchObject({ files: 2, leftOut: 3 });
  });

  it('with --dry-run shows what it would send, and waits for no receiver', async () => {
    const planned = await room.start(['send', 'project', '--exclude', 'build', '--dry-run', '--verbose']);
    expect(await planned.ended).toBe(0);
    expect(planned.stdout.split('\n').slice(0, -2).sort()).toEqual(
      [
        'project/',
        'project/.gitignore',
        'project/note.tmp',
        'project/src/',
        'project/src/a.c',
        'project/src/a.o',
      ].sort(),
    );
    expect(planned.stdout).toMatch(/Would send 4 files, 2 folders, \d+ B\. 1 name would be left out\.\n$/);
  });
});
