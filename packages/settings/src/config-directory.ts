// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import envPaths from 'env-paths';

/**
 * The user's configuration directory; absolute, and it may be missing. In a file of its own, so that commands that need only
 * this load nothing else.
 */
export function configDirOf({
  flags,
  env,
  cwd,
}: {
  flags: { config?: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}): string {
  return resolve(cwd, flags.config || env.KD_CONFIG_DIR || envPaths('keibidrop', { suffix: '' }).config);
}
