// SPDX-License-Identifier: MPL-2.0
import { findUnsendable, type Root } from '@keibidrop/native';
import type { WarningEvent } from '../events.ts';

const MOST_NAMED = 5;

/** Warns of names that cannot be sent, before a code is shown; undefined if there are none. */
export async function leftBehindWarning(roots: readonly Root[]): Promise<WarningEvent | undefined> {
  let count = 0;
  const names: string[] = [];
  for (const root of roots) {
    if (root.path === '') continue;
    const found = await findUnsendable(root);
    count += found.count;
    names.push(...found.names.slice(0, MOST_NAMED - names.length));
  }
  if (count === 0) return undefined;
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const which = `${names.map((name) => `"${name}"`).join(', ')}${more}`;
  const verb = count === 1 ? 'stays' : 'stay';
  return { type: 'warning', message: `Not UTF-8, so ${verb} behind until renamed: ${which}.`, count, names };
}
