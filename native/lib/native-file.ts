// SPDX-License-Identifier: MPL-2.0

// Only this file knows where the addon and the mount host are.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import platforms from '../platforms.json' with { type: 'json' };

/** The platforms that have a package @keibidrop/PLATFORM. */
const PACKAGED: readonly string[] = Object.keys(platforms);

/**
 * The places where a file that native/ builds may be, best first: beside the running module (a packaged window), in the
 * npm package for this platform, in `native/build` above the module (a checkout).
 *
 * @param directory  of the running module
 * @param named      the only place to look at, if set
 */
export function nativeFilePlaces(directory: string, named: string | undefined, fileName: string): string[] {
  if (named) return [named];
  return [
    join(directory, fileName),
    ...packageDirectories(directory).map((each) => join(each, fileName)),
    join(directory, '..', 'build', fileName),
    ...['..', '../..', '../../..'].map((up) => join(directory, up, 'native', 'build', fileName)),
  ];
}

/** Why no file could be loaded: there is no package for this platform, or its package is missing or broken. */
export function missingNativePart(tried: readonly string[], platform = fullPlatform()): Error {
  if (!PACKAGED.includes(platform)) {
    const about = `${platform} (there are packages for ${PACKAGED.join(', ')})`;
    return Object.assign(new Error(about), { code: 'PLATFORM_UNSUPPORTED' });
  }
  const about =
    `the native part of KeibiDrop could not be loaded on ${platform} (from npm it is the optional dependency ` +
    `@keibidrop/${platform}); tried\n  ${tried.join('\n  ')}`;
  return Object.assign(new Error(about), { code: 'PROGRAM_INCOMPLETE' });
}

/**
 * The installed package of this platform. Older npm versions install both C libraries' packages: musl may load an addon
 * for glibc, because it takes `libc.so.6` for itself. Only then is Node's C library asked for.
 */
function packageDirectories(directory: string): string[] {
  const { resolve } = createRequire(join(directory, 'module.js'));
  const found = platformNames().flatMap((name) => {
    try {
      return [{ name, path: dirname(resolve(`@keibidrop/${name}/package.json`)) }];
    } catch {
      return []; // not installed
    }
  });
  const platform = found.length > 1 ? fullPlatform() : undefined;
  return found.filter(({ name }) => platform === undefined || name === platform).map(({ path }) => path);
}

function platformNames(): string[] {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === 'linux' ? [`${name}-gnu`, `${name}-musl`] : [name];
}

/** The platform with Node's C library. Slow: Node writes a report for it. */
function fullPlatform(): string {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  const { report } = process as { report: NodeJS.ProcessReport & { excludeNetwork?: boolean } };
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  return `${name}-${header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'}`;
}
