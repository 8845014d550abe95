// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, KeibiError } from '@keibidrop/protocol';

const FULL = ['ENOSPC', 'EDQUOT'];

/** The error for one of our files that cannot be read or written: DISK_FULL if the disk is full, else `code`. */
export function fileError(code: ErrorCode, path: string, how: string, cause: unknown): KeibiError {
  if (cause instanceof KeibiError) return cause;
  if (isDiskFull(cause)) {
    const message = `${path} cannot be ${how}: the disk is full. Make room and run the same command again.`;
    return new KeibiError('DISK_FULL', message, { cause });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KeibiError(code, `${path} cannot be ${how}: ${reason}.`, { cause });
}

function isDiskFull(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && FULL.includes(String(cause.code));
}
