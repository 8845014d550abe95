// SPDX-License-Identifier: MPL-2.0
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { STAGING_PREFIX } from '@keibidrop/protocol';

/** Whether a destination's file system ignores case. Looks up the staging folder, which must exist, by a name in another case. */
export async function foldsNames(destination: string): Promise<boolean> {
  const [named, other] = await Promise.all(
    [STAGING_PREFIX, STAGING_PREFIX.toUpperCase()].map((name) =>
      lstat(join(destination, name), { bigint: true }).catch(() => undefined),
    ),
  );
  return named !== undefined && other !== undefined && named.ino === other.ino;
}
