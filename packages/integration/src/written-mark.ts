// SPDX-License-Identifier: MPL-2.0

/** A line of every text of this package, by which a later run recognises its own files. */
export const WRITTEN_BY = 'X-KeibiDrop-Integration';

/** Whether a file with this content was written from this package, so that it may be replaced or removed. */
export function isWritten(content: string): boolean {
  return content.split('\n').some((line) => line.replace(/^# /, '').startsWith(`${WRITTEN_BY}=`));
}
