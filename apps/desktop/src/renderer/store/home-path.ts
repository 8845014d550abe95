// SPDX-License-Identifier: MPL-2.0

/** A path with `~` for the home folder. @param home  '' if unknown */
export function withTilde(path: string, home: string): string {
  if (home === '' || home === '/') return path;
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The inverse, for programs that do not know `~`. */
export function withoutTilde(path: string, home: string): string {
  return home !== '' && /^~(\/|$)/.test(path) ? home + path.slice(1) : path;
}
