// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Selection } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { Io } from '../terminal/io.ts';
import { quoted } from '../terminal/terminal-text.ts';

/** The options that leave names out of the given folders. */
export interface SelectionFlags {
  exclude?: string[];
  excludeFrom?: string;
  gitignore?: boolean;
}

/** @param conflicts  names of options with which nothing is left out */
export function addSelectionOptions(command: Command, conflicts: string[]): Command {
  return command
    .addOption(
      new Option('--exclude <pattern>', 'leave out names that match, as in gitignore(5); repeatable')
        .argParser((pattern: string, before: string[] = []) => [...before, pattern])
        .conflicts(conflicts),
    )
    .addOption(new Option('--exclude-from <file>', 'leave out by the patterns in this file').conflicts(conflicts))
    .addOption(new Option('--gitignore', 'leave out what files .gitignore in the folders name').conflicts(conflicts));
}

/** Undefined: everything is sent. @throws USAGE */
export async function selectionOf(
  { exclude = [], excludeFrom, gitignore = false }: SelectionFlags,
  io: Pick<Io, 'cwd'>,
): Promise<Selection | undefined> {
  if (exclude.length === 0 && excludeFrom === undefined && !gitignore) return undefined;
  if (exclude.includes('')) throw new KeibiError('USAGE', '--exclude is empty. Name a pattern, such as *.tmp.');
  const file = excludeFrom === undefined ? '' : await patternsIn(excludeFrom, io);
  const patterns = [file, ...exclude].filter((text) => text !== '').join('\n');
  return { exclude: patterns, gitignore };
}

async function patternsIn(path: string, { cwd }: Pick<Io, 'cwd'>): Promise<string> {
  return readFile(resolve(cwd, path), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new KeibiError(
      'USAGE',
      `The file ${quoted(path)} of --exclude-from cannot be read (${cause.code}). Check it.`,
      {
        cause,
      },
    );
  });
}
