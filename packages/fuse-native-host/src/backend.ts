// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'fuse-native';
const PROGRAM = 'fuse-native-host.cjs';

/** The arguments of the program that it takes from the mount. */
interface HostOptions {
  folder: string;
  name: string;
  patienceMs: number;
  cacheBytes: number;
  cache: string;
  label: string | undefined;
}

/** The npm package, an optional dependency with its own libfuse 2. It is slower, and has faults (docs/PORTING.md). */
export const fuseNativeBackend = {
  name: 'fuse-native',

  async whyNot(): Promise<string | undefined> {
    if (process.versions.electron !== undefined)
      return 'fuse-native does not run in Electron: mount by the command line.';
    if (installed() === undefined)
      return 'fuse-native is not installed either: npm install fuse-native, beside keibidrop, brings a FUSE of its own.';
    return host() === undefined ? `${PROGRAM} is missing: run scripts/setup.` : undefined;
  },

  command({ folder, name, patienceMs, cacheBytes, cache, label }: HostOptions) {
    const words = [host() ?? '', installed() ?? '', folder, name, `${patienceMs}`, `${cacheBytes}`, cache];
    return { program: process.execPath, words: label === undefined ? words : [...words, label] };
  },
} as const;

/** Where the package is, if it is there with a binary for this machine. */
function installed(): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve(PACKAGE);
    const { platform, arch } = process;
    return existsSync(join(dirname(path), 'prebuilds', `${platform}-${arch}`)) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Its mount host: beside the running bundle, or that of the checkout. */
function host(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  const named = process.env.KD_FUSE_NATIVE_HOST;
  const places = named ? [named] : [join(here, PROGRAM), join(here, '../../../apps/cli/dist', PROGRAM)];
  return places.find(existsSync);
}
