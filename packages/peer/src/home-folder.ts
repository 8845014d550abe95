// SPDX-License-Identifier: MPL-2.0
import { homedir } from 'node:os';
import { join } from 'node:path';

/** `~` and `~/…` as a shell would have them; every other path as it is. */
export function expandHome(path: string): string {
  return /^~(\/|$)/.test(path) ? join(homedir(), path.slice(1)) : path;
}
