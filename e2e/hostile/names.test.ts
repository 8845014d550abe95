// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { DIRECTORY, FILE, type RawEntry, SYMLINK } from './raw-manifest.ts';
import { Receiving } from './receiving.ts';

/** Offers a single page. Resolves with how the receiver ended. */
async function offer(entries: RawEntry[], count = entries.length) {
  const receiving = await Receiving.begin();
  try {
    receiving.sender.start();
    receiving.sender.page(0, entries, count);
    return await receiving.end();
  } finally {
    await receiving.close();
  }
}

const PATH = 'TRANSFER_PATH_REFUSED';
const LIMIT = 'TRANSFER_LIMIT_EXCEEDED';
const folder: RawEntry = { type: DIRECTORY, mode: 0o755, name: 'd' };
const link = (target: string): RawEntry => ({ type: SYMLINK, name: 'd', target });

const cases: [what: string, code: string, RawEntry[]][] = [
  ['an absolute path', PATH, [{ name: '/tmp/keibidrop-evil' }]],
  ['a path upwards', PATH, [{ name: '../evil' }]],
  ['the name ..', PATH, [folder, { name: '..', parent: 0 }]],
  ['the name .', PATH, [{ name: '.', type: DIRECTORY }]],
  ['the name /', PATH, [{ name: '/' }]],
  ['a name with a slash', PATH, [{ name: 'a/b' }]],
  ['a name with a NUL', PATH, [{ name: 'a\0b' }]],
  ['an empty name', PATH, [{ name: '' }]],
  ['a name of 256 bytes', LIMIT, [{ name: 'x'.repeat(256) }]],
  ['a name that is not UTF-8', PATH, [{ name: Buffer.from([0x61, 0xff]) }]],
  ['a name that is a surrogate in UTF-8', PATH, [{ name: Buffer.from([0xed, 0xa0, 0x80]) }]],
  ['a name with an overlong slash', PATH, [{ name: Buffer.from([0x61, 0xc0, 0xaf]) }]],
  ['the name of our staging', PATH, [{ name: '.keibidrop-partial', type: DIRECTORY }]],
  ['a file through a symlink', PATH, [link('../outside'), { name: 'precious', parent: 0 }]],
  ['a file below a file', PATH, [{ name: 'd' }, { name: 'x', parent: 0 }]],
  ['a parent that comes later', PATH, [{ name: 'x', parent: 1 }, folder]],
  ['an entry that is its own parent', PATH, [{ ...folder, parent: 0 }]],
  ['a parent that does not exist', PATH, [{ name: 'x', parent: 77 }]],
  ['the same name twice', PATH, [{ name: 'a' }, { name: 'a' }]],
  ['a symlink and a folder of one name', PATH, [link('../outside'), folder]],
  ['a symlink with an empty target', PATH, [link('')]],
  ['a symlink with a NUL in its target', PATH, [link('a\0b')]],
  ['a symlink target of 4096 bytes', LIMIT, [link('t'.repeat(4096))]],
  ['a file with a set-uid bit', PATH, [{ mode: 0o4755 }]],
  ['a folder with the sticky bit', PATH, [{ ...folder, mode: 0o1777 }]],
  ['a file with a target', PATH, [{ target: 'x' }]],
  ['a folder with a size', PATH, [{ ...folder, size: 1n }]],
  ['an unknown type', PATH, [{ type: 9 }]],
  ['type 0', PATH, [{ type: 0 }]],
  ['a size of 2^53', LIMIT, [{ size: 2n ** 53n }]],
  ['a size of 2^63', LIMIT, [{ size: 2n ** 63n }]],
  ['a size of 2^64 - 1', LIMIT, [{ size: 2n ** 64n - 1n }]],
];

describe('an offer with', () => {
  it.concurrent.each(cases)('%s is refused as %s', async (_what, code, entries) => {
    const { exit, code: refused, left, untouched, stderr } = await offer(entries);
    expect({ exit, refused, left, untouched, stderr }).toEqual({
      exit: 1,
      refused: code,
      left: [],
      untouched: true,
      stderr: '',
    });
  });

  it('a good entry before the bad one is refused as a whole', async () => {
    const { code, left } = await offer([{ type: FILE, name: 'good' }, folder, { name: '..', parent: 1 }]);
    expect({ code, left }).toEqual({ code: PATH, left: [] });
  });
});
