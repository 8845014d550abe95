// SPDX-License-Identifier: MPL-2.0
import { readFile, realpath } from 'node:fs/promises';
import { KeibiError } from '@keibidrop/protocol';
import { parse } from 'smol-toml';
import { fileError } from './disk-full.ts';
import { writePrivate } from './private-file.ts';

/** New values by key, as text; '' removes the key from the file. */
export type ConfigChanges = Readonly<Record<string, string>>;

/**
 * Changes lines of a TOML file and leaves all others as they are: comments, order, tables.
 *
 * @param check  called with the path of a file that has the changes; if it throws, nothing is changed
 * @throws CONFIG_INVALID if the file cannot be read or written, or defines a key in a way that has no line of its own
 */
export async function changeConfigFile(
  named: string,
  changes: ConfigChanges,
  check: (candidate: string) => Promise<void>,
): Promise<void> {
  // Many users keep the file elsewhere, behind a symlink.
  const path = await realpath(named).catch(() => named);
  const before = await textOf(path);
  let after = before;
  for (const [key, value] of Object.entries(changes)) after = withValue(after, key, value);
  assertChanged(after, changes, path);
  const checked = (fresh: string) =>
    check(fresh).catch((cause) => {
      if (!(cause instanceof KeibiError)) throw cause;
      throw new KeibiError(cause.code, cause.message.replaceAll(fresh, path), { cause });
    });
  await writePrivate(path, Buffer.from(after), { replace: true, check: checked }, 'CONFIG_INVALID');
}

/** Top-level keys belong before the first table. */
function withValue(text: string, key: string, value: string): string {
  const table = /^[ \t]*\[/m.exec(text)?.index ?? text.length;
  const [head, tables] = [text.slice(0, table), text.slice(table)];
  const line = new RegExp(`^[ \\t]*${key}[ \\t]*=.*(?:\\n|$)`, 'm');
  const fresh = value === '' ? '' : `${key} = ${JSON.stringify(value)}\n`;
  if (line.test(head)) return head.replace(line, () => fresh) + tables;
  return `${head === '' || head.endsWith('\n') ? head : `${head}\n`}${fresh}${tables}`;
}

/** Refuses to rewrite a value over several lines or a quoted key. */
function assertChanged(text: string, changes: ConfigChanges, path: string): void {
  let values: Record<string, unknown> = {};
  try {
    values = parse(text);
  } catch {
    // A file that does not parse fails the check below.
  }
  for (const [key, value] of Object.entries(changes)) {
    if ((values[key] ?? '') === value) continue;
    throw new KeibiError('CONFIG_INVALID', `${key} cannot be changed in ${path}. Change it there by hand.`);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw fileError('CONFIG_INVALID', path, 'read', cause);
  }
}
