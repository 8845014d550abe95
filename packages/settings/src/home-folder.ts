// SPDX-License-Identifier: MPL-2.0
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Expands `~` and `~/…` like a shell; leaves other paths unchanged. */
export function expandHome(path: string): string {
  return /^~(\/|$)/.test(path) ? join(homedir(), path.slice(1)) : path;
}
