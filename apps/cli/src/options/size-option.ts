// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { quoted } from '../terminal/terminal-text.ts';

/**
 * Parses bytes: a number and K, M or G, which are powers of 1024. The caller checks the range.
 *
 * @throws USAGE
 */
export function parseSize(option: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([kmg]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(number || Number.NaN) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' '));
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new KeibiError('USAGE', `${option} must be bytes, such as 256M or 1G; it is ${quoted(text)}.`);
}
