// SPDX-License-Identifier: MPL-2.0
import { constants } from 'node:os';
import { KeibiError, systemErrorIn } from '@keibidrop/protocol';

const { errno } = constants;

/** The errno of each failure; anything else is EIO. */
const ERRNOS: Readonly<Record<string, number>> = {
  SHARE_NOT_FOUND: errno.ENOENT,
  SHARE_PATH_REFUSED: errno.ENOENT,
  SHARE_UNREADABLE: errno.EACCES,
  TRANSFER_SOURCE_CHANGED: errno.ESTALE,
  TRANSFER_LIMIT_EXCEEDED: errno.EOVERFLOW,
  TRANSFER_DISK_FULL: errno.ENOSPC,
  PEER_BUSY: errno.EBUSY,
};

/** The errno that stands for a failure. */
export function systemErrorOf(reason: unknown): number {
  const named = systemErrorIn(reason);
  if (named !== undefined) return errno[named] ?? errno.EIO;
  if (reason instanceof KeibiError) return ERRNOS[reason.code] ?? errno.EIO;
  return (reason as { name?: unknown }).name === 'TimeoutError' ? errno.ETIMEDOUT : errno.EIO;
}
