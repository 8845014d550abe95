// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import envPaths from 'env-paths';

/** Where this user's configuration is; absolute, and perhaps not there. A file of its own: commands that only look there load nothing else. */
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
