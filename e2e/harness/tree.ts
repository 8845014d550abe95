// SPDX-License-Identifier: MPL-2.0
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from './sandbox.ts';

/** The properties of one entry that tests compare. */
export interface Seen {
  type: 'file' | 'directory' | 'symlink' | 'other';
  /** Permission bits; absent for a symlink. */
  mode?: string;
  mtimeNs: bigint;
  size?: bigint;
  sha256?: string;
  target?: string;
}

/** Every entry below `root`, by relative path; without `root` itself. */
export async function readTree(root: string): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  const visit = async (path: string) => {
    for (const name of (await readdir(join(root, path))).sort()) {
      const child = path === '' ? name : `${path}/${name}`;
      const entry = await look(join(root, child));
      seen.set(child, entry);
      if (entry.type === 'directory') await visit(child);
    }
  };
  await visit('');
  return seen;
}

async function look(path: string): Promise<Seen> {
  const status = await lstat(path, { bigint: true });
  const { mtimeNs, size } = status;
  if (status.isSymbolicLink()) return { type: 'symlink', mtimeNs, target: await readlink(path) };
  const mode = (status.mode & 0o7777n).toString(8).padStart(4, '0');
  if (status.isDirectory()) return { type: 'directory', mode, mtimeNs };
  return status.isFile()
    ? { type: 'file', mode, mtimeNs, size, sha256: await digestOf(path) }
    : { type: 'other', mode, mtimeNs };
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Path and digest of every file, for tests that compare contents only. */
export async function readContents(root: string): Promise<Map<string, string | undefined>> {
  const tree = await readTree(root);
  return new Map(
    [...tree]
      .filter(([, { type }]) => type !== 'directory')
      .map(([path, { sha256, target }]) => [path, sha256 ?? target]),
  );
}

/** Sets the mtime of `path` itself, not of its target, to a time that `touch -d` reads. */
export function setTime(path: string, time: string): void {
  run('touch', '--no-dereference', '--date', time, '--', path);
}

/** Writes a file of random bytes, MiB by MiB: no holes, incompressible. */
export async function writeRandom(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w');
  const block = randomBytes(1 << 20);
  try {
    for (let at = 0; at < bytes; at += block.length) {
      // Each MiB differs, so that a misplaced chunk shows.
      block.writeUInt32LE(at >>> 20, 0);
      await file.write(block, 0, Math.min(block.length, bytes - at));
    }
  } finally {
    await file.close();
  }
}

/** Writes `count` files of random sizes up to 16 KiB in a new `directory`. */
export async function writeSmallFiles(directory: string, count: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  const content = randomBytes(32 << 10);
  for (let i = 0; i < count; i++) {
    const from = (i * 7) % (16 << 10);
    await writeFile(join(directory, `${i}`), content.subarray(from, from + ((i * 131) % (16 << 10))));
  }
}

/** Names that programs often mishandle. */
export const AWKWARD_NAMES = [
  'with spaces  and two',
  'quotes " \' ` and $HOME',
  'new\nline\ttab',
  '👩‍👩‍👧 emoji 🦆',
  '-dash',
  '--help',
  ' leading and trailing ',
  'back\\slash',
  'star * question ?',
  'colon: semicolon; pipe |',
  'e\u0301 decomposed',
  '\u00e9 composed',
  'control \u0001 \u001b[31m red',
  '\u202egnp.exe',
  '.hidden',
  '...',
  '~',
  `${'n'.repeat(251)}.txt`,
  'ü'.repeat(127),
  'CON',
];

/** Creates `root` with every kind of entry that must survive a transfer. */
export async function makeAwkwardTree(root: string): Promise<void> {
  await mkdir(join(root, 'names'), { recursive: true });
  for (const name of AWKWARD_NAMES) await writeFile(join(root, 'names', name), name);
  for (const name of AWKWARD_NAMES.slice(0, 6)) await mkdir(join(root, 'folders', name, 'inner'), { recursive: true });
  await makeSizes(join(root, 'sizes'));
  await makeLinks(join(root, 'links'));
  await makeModes(join(root, 'modes'));
  await mkdir(join(root, ...Array.from({ length: 120 }, (_, depth) => `deep${depth}`)), { recursive: true });
  await writeFile(join(root, ...Array.from({ length: 120 }, (_, depth) => `deep${depth}`), 'bottom'), 'deep');
  await makeTimes(join(root, 'times'));
}

/** Sizes around the limits of the wire: empty, packed, one chunk, several, a short last chunk. */
async function makeSizes(directory: string): Promise<void> {
  await mkdir(directory);
  const mebibyte = 1 << 20;
  for (const size of [0, 1, 4095, 4096, mebibyte - 1, mebibyte, mebibyte + 1, 5 * mebibyte, 5 * mebibyte + 12_345]) {
    await writeRandom(join(directory, `${size}`), size);
  }
  await mkdir(join(directory, 'empty folder'));
}

async function makeLinks(directory: string): Promise<void> {
  await mkdir(join(directory, 'folder'), { recursive: true });
  await writeFile(join(directory, 'folder', 'file'), 'linked');
  const links = {
    dangling: 'no such\nfile',
    absolute: '/etc/hostname',
    'to a folder': 'folder',
    relative: 'folder/file',
    up: '../../..',
    self: 'self',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(directory, name));
  setTime(join(directory, 'dangling'), '2001-02-03 04:05:06.789012345');
}

async function makeModes(directory: string): Promise<void> {
  await mkdir(directory);
  for (const mode of [0o400, 0o444, 0o600, 0o640, 0o666, 0o755, 0o777]) {
    const path = join(directory, mode.toString(8));
    await writeFile(path, path);
    await chmod(path, mode);
  }
  for (const mode of [0o500, 0o555, 0o700, 0o750, 0o777]) {
    const path = join(directory, `folder ${mode.toString(8)}`);
    await mkdir(path);
    await writeFile(join(path, 'inside'), path);
    await chmod(path, mode);
  }
}

async function makeTimes(directory: string): Promise<void> {
  const times = {
    'sub-second': '2024-05-06 07:08:09.123456789',
    'whole second': '2024-05-06 07:08:09',
    'before 1970': '1965-04-03 02:01:00.987654321 UTC',
    'just before 1970': '1969-12-31 23:59:59.999999999 UTC',
    epoch: '1970-01-01 00:00:00 UTC',
    'after 2038': '2039-01-02 03:04:05.000000001 UTC',
  };
  await mkdir(directory);
  for (const [name, time] of Object.entries(times)) {
    await writeFile(join(directory, name), name);
    setTime(join(directory, name), time);
    await mkdir(join(directory, `folder ${name}`));
    setTime(join(directory, `folder ${name}`), time);
  }
  setTime(directory, '1999-12-31 23:59:59.5');
}
