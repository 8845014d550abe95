// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingNativePart, nativeFilePlaces } from './native-file.ts';

const ADDON = 'keibidrop.node';
const MOUNT_HOST = 'keibidrop-mount';
const HERE = dirname(fileURLToPath(import.meta.url));

let loaded: Loaded | undefined;

/** The addon's exports, and the file they came from. */
export interface Loaded {
  readonly path: string;
  readonly exports: unknown;
}

/**
 * The addon's exports, loaded at the first call. The only place that loads `keibidrop.node`: the file that
 * KD_NATIVE_BINDING names, or the first that loads of those that native-file.ts knows.
 *
 * @typeParam T  the part of the exports that the caller uses, stated beside its TypeScript face
 * @throws       PLATFORM_UNSUPPORTED; PROGRAM_INCOMPLETE, SYSTEM_LIMIT with every place and what was wrong there
 */
export function loadBinding<T>(): T {
  loaded ??= load(nativeFilePlaces(HERE, process.env.KD_NATIVE_BINDING, ADDON));
  return loaded.exports as T;
}

/**
 * The program that shows folders, or undefined where it was not built: the one that KD_MOUNT_HOST names, else one of
 * those that native-file.ts knows, preferably from the folder that the addon was loaded from.
 */
export function findMountHost(): string | undefined {
  const places = nativeFilePlaces(HERE, process.env.KD_MOUNT_HOST, MOUNT_HOST).filter((path) => existsSync(path));
  return places.find((path) => loaded !== undefined && dirname(path) === dirname(loaded.path)) ?? places[0];
}

/** Loads the first of `paths` that can be loaded. */
export function load(paths: string[]): Loaded {
  const require = createRequire(import.meta.url);
  const tried: string[] = [];
  for (const path of paths) {
    if (!existsSync(path)) {
      tried.push(`${path}: not there`);
      continue;
    }
    try {
      return { path, exports: require(path) };
    } catch (reason) {
      tried.push(`${path}: ${reason instanceof Error ? reason.message : String(reason)}`);
    }
  }
  // dlopen names the lack of descriptors by this sentence alone.
  if (/too many open files/i.test(tried.join())) {
    const about = `the native part of KeibiDrop could not be loaded; tried\n  ${tried.join('\n  ')}`;
    throw Object.assign(new Error(about), { code: 'SYSTEM_LIMIT' });
  }
  throw missingNativePart(tried);
}
