// SPDX-License-Identifier: MPL-2.0
import { stat } from 'node:fs/promises';
import { basename, extname, relative, resolve, sep } from 'node:path';
import { MAX_EXCLUDE_BYTES, type Root, type Selection } from '@keibidrop/native';
import { KeibiError, messageFor } from '@keibidrop/protocol';

function notAFile(path: string): string {
  return `${path}: This is a pipe, a socket or a device, not a file or folder. To send a stream, pipe it into keibidrop send -.`;
}

/** The file name for standard input. */
const STDIN_NAME = 'stdin';

/**
 * Converts paths from a command line or a drop to the roots of an offer: absolute, each with a unique name.
 *
 * A path that is a symlink stands for its target, because the user named it.
 *
 * @param beneath  folders that the paths may not leave: no symlink below them is followed, whenever the paths are read
 * @throws TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE, TRANSFER_SOURCE_UNSUPPORTED, FOLDER_NOT_ALLOWED naming the path
 */
export async function resolveRoots(
  paths: readonly string[],
  { stdin = false, beneath }: { stdin?: boolean | undefined; beneath?: readonly string[] | undefined } = {},
): Promise<Root[]> {
  if (stdin) return [{ path: '', name: STDIN_NAME }];
  const taken = new Set<string>();
  const roots: Root[] = [];
  for (const given of paths) {
    const path = resolve(given);
    const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      const code =
        cause.code === 'ENOENT' || cause.code === 'ENOTDIR' ? 'TRANSFER_SOURCE_MISSING' : 'TRANSFER_SOURCE_UNREADABLE';
      throw new KeibiError(code, messageFor(code, given), { cause });
    });
    if (!found.isFile() && !found.isDirectory()) throw new KeibiError('TRANSFER_SOURCE_UNSUPPORTED', notAFile(given));
    const name = freeName(basename(path) || 'root', taken);
    taken.add(name);
    roots.push(beneath === undefined ? { path, name } : { ...confined(path, beneath), name });
  }
  return roots;
}

/** @throws USAGE if the patterns are too long */
export function checkSelection(selection: Selection | undefined): void {
  if (Buffer.byteLength(selection?.exclude ?? '') <= MAX_EXCLUDE_BYTES) return;
  const most = `${MAX_EXCLUDE_BYTES / 1024} KiB`;
  throw new KeibiError('USAGE', `The patterns to leave out have more than ${most}. Use fewer or shorter ones.`);
}

/**
 * Converts a peer's requested paths of a shared folder to roots of an offer. No symlink beneath the folder is followed.
 *
 * @param paths  checked, '' for the folder itself
 */
export function rootsBeneath(folder: { path: string; name: string }, paths: readonly string[]): Root[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const name = freeName(path === '' ? folder.name : basename(path), taken);
    taken.add(name);
    return path === '' ? { path: folder.path, name } : { path, name, beneath: folder.path };
  });
}

/** @throws FOLDER_NOT_ALLOWED */
function confined(path: string, folders: readonly string[]): Pick<Root, 'path' | 'beneath'> {
  for (const folder of folders) {
    const inside = relative(folder, path);
    if (inside === '') return { path };
    if (inside !== '..' && !inside.startsWith(`..${sep}`)) return { path: inside, beneath: folder };
  }
  throw new KeibiError(
    'FOLDER_NOT_ALLOWED',
    `${path} is outside of the folders that may be used. Choose a path in one of them.`,
  );
}

/** `a/report.pdf` and `b/report.pdf` travel as `report.pdf` and `report (1).pdf`. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  let free = name;
  for (let i = 1; taken.has(free); i++) free = `${stem} (${i})${extension}`;
  return free;
}
