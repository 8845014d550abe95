// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';
import { quoted } from '../terminal/terminal-text.ts';

const UNITS = { s: 1000, m: 60_000, h: 3_600_000 } as const;
const MOST_MS = 24 * UNITS.h;

/**
 * An Io whose signal also aborts after `--timeout`.
 *
 * @param text    as typed: `30s`, `10m`, `2h`; undefined: no limit
 * @param toDo    message at the timeout: what may have happened, and what to do
 * @throws USAGE
 */
export function limited(io: Io, text: string | undefined, toDo: string): Io {
  if (text === undefined) return io;
  const [, number, unit = 's'] = /^(\d{1,6})([smh])?$/.exec(text) ?? [];
  const ms = Number(number) * UNITS[unit as keyof typeof UNITS];
  if (!(ms > 0 && ms <= MOST_MS)) {
    throw new KeibiError('USAGE', `--timeout must be a time of up to 24h, such as 30s or 10m; it is ${quoted(text)}.`);
  }
  const over = new AbortController();
  setTimeout(() => over.abort(new KeibiError('HANDSHAKE_TIMEOUT', `Not done within ${text}. ${toDo}`)), ms).unref();
  return { ...io, signal: AbortSignal.any([io.signal, over.signal]) };
}
