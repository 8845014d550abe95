// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '../errors.ts';
import { MAX_DEPTH, MAX_SHARE_PATH_BYTES } from '../limits.ts';
import { checkName, STAGING_PREFIX, utf8Length } from './remote-path.ts';

/**
 * Checks a path within a share (PROTOCOL 11): names joined by `/`, with the rules of a manifest, or '' for the shared folder itself.
 *
 * @throws SHARE_PATH_REFUSED
 */
export function checkSharePath(path: string): string {
  if (path === '') return path;
  const bytes = utf8Length(path);
  if (bytes === undefined || bytes > MAX_SHARE_PATH_BYTES) throw new KeibiError('SHARE_PATH_REFUSED');
  const names = path.split('/');
  if (names.length > MAX_DEPTH + 1) throw new KeibiError('SHARE_PATH_REFUSED');
  try {
    for (const name of names) checkName(name, { top: false, entry: 0 });
  } catch (cause) {
    throw new KeibiError('SHARE_PATH_REFUSED', undefined, { cause });
  }
  // A receiver's staging files are not part of a share.
  if (names.some((name) => name.startsWith(STAGING_PREFIX))) throw new KeibiError('SHARE_PATH_REFUSED');
  return path;
}
