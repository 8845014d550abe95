// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { candidates } from './binding.ts';

const FILE_NAME = 'keibidrop-mount';

/** The program that shows folders, or undefined where it was not built: it stands beside the addon. */
export function findMountHost(): string | undefined {
  return candidates(dirname(fileURLToPath(import.meta.url)), process.env.KD_MOUNT_HOST, FILE_NAME).find(existsSync);
}
