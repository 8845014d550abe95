// SPDX-License-Identifier: MPL-2.0
import type { Dirent } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { measurePath } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
import { openByDesktop } from '../desktop-opener.ts';
import { folderPath } from '../folder-path.ts';
import { freeBytes } from '../free-space.ts';
import type { LocalGroup } from '../local/local-calls.ts';

const MAX_FOLDERS = 10_000;

/** The calls about folders of this machine, for pages without a file dialog. */
export function folderCalls({
  transfers,
  settings,
  read,
}: DaemonParts): LocalGroup<'listFolders' | 'freeSpace' | 'measure' | 'openPlace'> {
  return {
    async listFolders({ path: asked, hidden }) {
      const path = resolve(asked === '' ? await firstFolder((await read({})).savePath) : folderPath(asked));
      const parent = dirname(path);
      const [folders, free, writable] = await Promise.all([foldersOf(path, hidden), freeBytes(path), isWritable(path)]);
      return {
        path,
        parent: parent === path ? undefined : parent,
        folders,
        freeBytes: free,
        writable,
        home: homedir(),
      };
    },

    async freeSpace({ path }) {
      return { bytes: await freeBytes(resolve(folderPath(path))) };
    },

    measure: ({ path }, { signal }) => measurePath(resolve(folderPath(path)), signal),

    async openPlace({ transfer, path: asked = '' }) {
      const path = resolve(transfer === 0 ? folderPath(asked) : transfers.get(transfer).folder());
      // Opens folders only: opening a file may run it.
      if (!(await isFolder(path))) throw new KeibiError('FOLDER_UNREADABLE');
      if (!(await openByDesktop(path, settings.env))) throw new KeibiError('DESKTOP_UNAVAILABLE');
      return { path };
    },
  };
}

/** The folder to start in: the save folder may not exist yet. */
async function firstFolder(savePath: string): Promise<string> {
  return (await isFolder(savePath)) ? savePath : homedir();
}

async function foldersOf(path: string, hidden: boolean): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((cause) => {
    throw new KeibiError('FOLDER_UNREADABLE', undefined, { cause });
  });
  const shown = entries.filter(({ name }) => hidden || !name.startsWith('.'));
  const found = await Promise.all(shown.map((entry) => leadsToFolder(path, entry)));
  const names = shown.filter((_, i) => found[i]).map(({ name }) => name);
  return names.sort((one, other) => one.localeCompare(other)).slice(0, MAX_FOLDERS);
}

function leadsToFolder(path: string, entry: Dirent): boolean | Promise<boolean> {
  return entry.isSymbolicLink() ? isFolder(join(path, entry.name)) : entry.isDirectory();
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
