// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, KeibiError } from './errors.ts';

/** One error for all failed entries of a run: their common code, else TRANSFER_INCOMPLETE; undefined if there are none. */
export function errorOfFailures(
  failed: readonly { path: string; code: ErrorCode; message: string }[],
): KeibiError | undefined {
  const [first] = failed;
  if (first === undefined) return undefined;
  const code = failed.every((entry) => entry.code === first.code) ? first.code : 'TRANSFER_INCOMPLETE';
  const which = `${first.path}: ${first.message}`;
  return new KeibiError(code, failed.length === 1 ? which : `${failed.length} entries failed; the first is ${which}`);
}
