// SPDX-License-Identifier: MPL-2.0
import { callFailure, type Entry, type ErrorCode, KeibiError, type ShareEntry } from '@keibidrop/protocol';

/** Error codes of native code, as a source reports them. */
const SOURCE_ERRORS: Readonly<Record<string, ErrorCode>> = {
  TRANSFER_PATH_REFUSED: 'SHARE_PATH_REFUSED',
  TRANSFER_SOURCE_MISSING: 'SHARE_NOT_FOUND',
  TRANSFER_SOURCE_UNREADABLE: 'SHARE_UNREADABLE',
  TRANSFER_SOURCE_UNSUPPORTED: 'SHARE_UNREADABLE',
};

export function sourceEntry({ type, name, size, mtimeNs, mode, target }: Entry): ShareEntry {
  if (type === 'stream') throw new KeibiError('INTERNAL');
  return { type, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}

/** Converts native errors to those of a source. */
export async function withSourceErrors<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (reason) {
    const { code = '' } = reason as { code?: string };
    const named = SOURCE_ERRORS[code];
    throw named === undefined
      ? KeibiError.from(reason, 'INTERNAL')
      : new KeibiError(named, undefined, { cause: reason });
  }
}

/** Runs a call in a folder and converts system errors. @throws `signal.reason` on abort */
export async function doneThere<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await withSourceErrors(work());
  } catch (reason) {
    const { code, errnoName } = (reason as { cause?: { code?: string; errnoName?: string } }).cause ?? {};
    if (code !== 'SHARE_CALL_FAILED') throw KeibiError.from(reason, 'INTERNAL');
    throw callFailure(errnoName, { cause: reason });
  }
}
