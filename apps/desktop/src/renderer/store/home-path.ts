// SPDX-License-Identifier: MPL-2.0

/** A path as people write it: `~` for the home folder. @param home  '': not known */
export function withTilde(path: string, home: string): string {
  if (home === '' || home === '/') return path;
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The same the other way round, for who knows nothing of `~`. */
export function withoutTilde(path: string, home: string): string {
  return home !== '' && /^~(\/|$)/.test(path) ? home + path.slice(1) : path;
}
