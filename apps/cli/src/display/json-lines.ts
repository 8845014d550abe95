// SPDX-License-Identifier: MPL-2.0
import type { TransferCounts } from '@keibidrop/peer';

/** The last line of a failed run. */
export function jsonErrorLine(error: { code: string; message: string }, counts?: TransferCounts): string {
  const { code, message } = error;
  return lineOf('error', { code, message, ...(counts && countsOf(counts)) });
}

/** One line of `--json`. */
export function lineOf(event: string, fields: object): string {
  return `${JSON.stringify({ event, ...fields })}\n`;
}

function countsOf({ files, bytes, skipped, resumedBytes, seconds }: TransferCounts): TransferCounts {
  return { files, bytes, skipped, resumedBytes, seconds: Math.round(seconds * 1000) / 1000 };
}
