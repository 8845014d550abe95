// SPDX-License-Identifier: MPL-2.0
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIRECTORY, FILE, type RawEntry, SYMLINK } from './raw-manifest.ts';
import { names, Receiving } from './receiving.ts';

// No case-folding file system is mounted here. The receiver detects one by opening our staging folder under its name in
// capitals. A bind mount in the command's own mount namespace makes that succeed, and everything after the check is
// real.
const FOLDED = 'mount --bind "$0/.keibidrop-partial" "$0/.KEIBIDROP-PARTIAL" && exec "$@"';

async function offered(entries: RawEntry[]) {
  let out = '';
  const under: string[] = ['unshare', '-m', 'sh', '-c', FOLDED];
  const receiving = await Receiving.begin({
    prepare: async (folder) => {
      out = folder;
      for (const name of ['.keibidrop-partial', '.KEIBIDROP-PARTIAL']) await mkdir(join(folder, name));
      under.push(folder);
    },
    under,
  });
  try {
    receiving.sender.start();
    receiving.sender.page(0, entries);
    const { exit, code, untouched, stderr } = await receiving.end();
    return { exit, code, untouched, stderr, left: names(out).filter((name) => !/^\.keibidrop-partial/i.test(name)) };
  } finally {
    await receiving.close();
  }
}

const REFUSED = { exit: 1, code: 'TRANSFER_PATH_REFUSED', untouched: true, stderr: '', left: [] };

describe('a destination that folds case', () => {
  const collisions: [what: string, RawEntry[]][] = [
    ['two files that differ in case', [{ name: 'readme' }, { name: 'README' }]],
    [
      'a symlink and a folder that differ in case',
      [
        { type: SYMLINK, name: 'd', target: '../outside' },
        { type: DIRECTORY, name: 'D', mode: 0o755 },
      ],
    ],
    ['two forms of one letter', [{ name: '\u00e9' }, { name: 'e\u0301' }]],
    [
      'two folders that differ in case',
      [
        { type: DIRECTORY, name: 'a' },
        { type: DIRECTORY, name: 'A' },
      ],
    ],
    ['our staging in capitals', [{ type: FILE, name: '.KeibiDrop-Partial' }]],
  ];

  it.each(collisions)('refuses an offer of %s', async (_what, entries) => {
    expect(await offered(entries)).toEqual(REFUSED);
  });
});
