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
 * The addon's exports, loaded at the first call. Only this function loads `keibidrop.node`: the file that
 * KD_NATIVE_BINDING names, else the first place of native-file.ts that loads.
 *
 * @typeParam T  the part of the exports that the caller uses, declared beside its TypeScript wrapper
 * @throws       PLATFORM_UNSUPPORTED; PROGRAM_INCOMPLETE or SYSTEM_LIMIT, listing every place and its error
 */
export function loadBinding<T>(): T {
  loaded ??= load(nativeFilePlaces(HERE, process.env.KD_NATIVE_BINDING, ADDON));
  return loaded.exports as T;
}

/**
 * The mount host program, or undefined if it was not built: the one that KD_MOUNT_HOST names, else one of the places of
 * native-file.ts, preferably the folder that the addon was loaded from.
 */
export function findMountHost(): string | undefined {
  const places = nativeFilePlaces(HERE, process.env.KD_MOUNT_HOST, MOUNT_HOST).filter((path) => existsSync(path));
  return places.find((path) => loaded !== undefined && dirname(path) === dirname(loaded.path)) ?? places[0];
}

/** Loads the first of `paths` that loads. */
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
  // dlopen reports missing descriptors only by this text.
  if (/too many open files/i.test(tried.join())) {
    const about = `the native part of KeibiDrop could not be loaded; tried\n  ${tried.join('\n  ')}`;
    throw Object.assign(new Error(about), { code: 'SYSTEM_LIMIT' });
  }
  throw missingNativePart(tried);
}
