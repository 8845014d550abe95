// SPDX-License-Identifier: MPL-2.0
import { isAbsolute } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { expandHome } from '@keibidrop/settings';

/** Parses a client's folder path: absolute, or `~` for the home folder. @throws USAGE */
export function folderPath(text: string): string {
  const path = expandHome(text);
  if (isAbsolute(path) && !path.includes('\0')) return path;
  throw new KeibiError('USAGE', `${JSON.stringify(text)} is not an absolute path. Begin it with / or ~/.`);
}
