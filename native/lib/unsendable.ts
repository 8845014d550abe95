// SPDX-License-Identifier: MPL-2.0
import { assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';
import type { Root } from './send-job.ts';

/** Entries that a send has to leave out: their name, or the target of a symlink, is not UTF-8. */
export interface Unsendable {
  count: number;
  /** Paths of the first few; bytes that are not UTF-8 are written as `\xe9`. */
  names: string[];
}

interface UnsendableBinding {
  findUnsendable(path: string, name: string, beneath: string): Promise<Unsendable>;
}

/** Reads the directories below a root, at most as many names as an offer may have. */
export async function findUnsendable({ path, name, beneath = '' }: Root): Promise<Unsendable> {
  assertText('path', path);
  assertText('name', name);
  assertText('beneath', beneath);
  return loadBinding<UnsendableBinding>().findUnsendable(path, name, beneath);
}
