// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'vitest';
import { IS_ROOT } from '../../harness/sandbox.ts';

/** How to install programs that not every system has. */
const BROUGHT_BY: Readonly<Record<string, string>> = {
  fio: 'apt-get install fio',
  fsx: 'cargo install fsx',
  gcc: 'apt-get install gcc',
  make: 'apt-get install make',
  pjdfstest: 'cargo install pjdfstest',
  rsync: 'apt-get install rsync',
  sqlite3: 'apt-get install sqlite3',
  vim: 'apt-get install vim-tiny',
};

/** The path of a program. If it is missing, skips the step and says how to install it. */
export function needs(program: string, { skip }: TestContext): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(homedir(), '.cargo/bin')];
  const found = folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
  return found ?? skip(`${program} is missing: ${BROUGHT_BY[program]}`);
}

export function needsRoot({ skip }: TestContext, why: string): void {
  if (!IS_ROOT) skip(`needs root, ${why}`);
}
