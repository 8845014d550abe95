// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE_NAME = 'keibidrop.node';

let loaded: unknown;

/**
 * The addon's exports, loaded at the first call. The only place that loads `keibidrop.node`.
 *
 * Looked for, in this order: the file that KD_NATIVE_BINDING names (nothing else then), beside the running module (a
 * bundle carries the addon with it), `native/build` above it (a checkout).
 *
 * @typeParam T  the part of the exports that the caller uses, stated beside its TypeScript face
 * @throws       PROGRAM_INCOMPLETE, SYSTEM_LIMIT with every place tried and what was wrong there
 */
export function loadBinding<T>(): T {
  loaded ??= load(candidates(dirname(fileURLToPath(import.meta.url)), process.env.KD_NATIVE_BINDING));
  return loaded as T;
}

/** The places where what native/ builds may be, seen from the directory of the module that looks for it. */
export function candidates(directory: string, named: string | undefined, fileName = FILE_NAME): string[] {
  if (named) return [named];
  const above = ['..', '../..', '../../..'];
  return [
    join(directory, fileName),
    join(directory, '..', 'build', fileName),
    ...above.map((up) => join(directory, up, 'native', 'build', fileName)),
  ];
}

/** Loads the first of `paths` that can be loaded. */
export function load(paths: string[]): unknown {
  const require = createRequire(import.meta.url);
  const tried: string[] = [];
  for (const path of paths) {
    if (!existsSync(path)) {
      tried.push(`${path}: not there`);
      continue;
    }
    try {
      return require(path);
    } catch (reason) {
      tried.push(`${path}: ${reason instanceof Error ? reason.message : String(reason)}`);
    }
  }
  const platform = `${process.platform}-${process.arch}`;
  const message = `the native part of KeibiDrop could not be loaded on ${platform}; tried\n  ${tried.join('\n  ')}`;
  // dlopen names the lack of descriptors by this sentence alone.
  const code = /too many open files/i.test(message) ? 'SYSTEM_LIMIT' : 'PROGRAM_INCOMPLETE';
  throw Object.assign(new Error(message), { code });
}
