// SPDX-License-Identifier: MPL-2.0
import { type Discovery, type HostPort, parseHostPort as parseAddress } from '@keibidrop/discovery';
import { MAX_LABEL_BYTES } from '@keibidrop/protocol';

/**
 * The flaw of a value, as the end of a sentence: "must be …". The caller, which knows the source of the value, turns it into an
 * error.
 */
export class BadValue extends Error {
  /** The value may hold a password, so messages must not repeat it. */
  readonly secret: boolean;

  constructor(message: string, { cause, secret = false }: { cause?: unknown; secret?: boolean } = {}) {
    super(message, { cause });
    this.secret = secret;
  }
}

const rateUnits = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const;

/** Bytes per second: a number and K, M or G, which are powers of 1024; `B`, `iB` and `/s` may follow. */
export function parseRate(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?(?:\/s)?$/i.exec(text.trim());
  const unit = match?.[2]?.toLowerCase() as keyof typeof rateUnits | undefined;
  const rate = unit === undefined ? Number.NaN : Math.floor(Number(match?.[1]) * rateUnits[unit]);
  if (!(rate >= 1 && Number.isSafeInteger(rate))) {
    throw new BadValue('must be bytes a second above 0, such as 500K, 10M or 1.5G (K = 1024 bytes)');
  }
  return rate;
}

const timeUnits = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_DAYS = 30;

/** Milliseconds: `90s`, `10m`, `24h`, `7d`, or 0. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,7})\s*([smhd])?$/i.exec(text.trim());
  const unit = match?.[2]?.toLowerCase() as keyof typeof timeUnits | undefined;
  const ms = unit === undefined ? (Number(match?.[1]) === 0 ? 0 : Number.NaN) : Number(match?.[1]) * timeUnits[unit];
  if (!(ms <= LONGEST_DAYS * timeUnits.d)) {
    throw new BadValue(`must be a time of up to ${LONGEST_DAYS}d, such as 30s, 10m or 24h, or 0`);
  }
  return ms;
}

const MOST_LIMITED_DAYS = 20;

/** Milliseconds after which something ends: a duration of at least a second. */
export function parseTimeLimit(text: string): number {
  const ms = parseDuration(text);
  if (ms < timeUnits.s || ms > MOST_LIMITED_DAYS * timeUnits.d) {
    throw new BadValue(`must be a time from 1s to ${MOST_LIMITED_DAYS}d, such as 90s, 10m or 24h`);
  }
  return ms;
}

/** `HOST:PORT`, with an IPv6 address in brackets. */
export function parseHostPort(text: string): HostPort {
  try {
    return parseAddress(text.trim());
  } catch (cause) {
    const examples = '192.168.1.7:26431, [fe80::1]:26431 or name:26431';
    throw new BadValue(`must be HOST:PORT with a port of 1 to 65535, such as ${examples}`, { cause });
  }
}

/** `HOST:PORT`, or only `:PORT` or `PORT` for every address of this machine; port 0 is any free one. */
export function parseListen(text: string): HostPort {
  const [, before = '', digits] = /^(?:(.*):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  const host = before === '' ? ANY_HOST : hostOf(before);
  if (!(port <= 65535) || host === undefined) {
    throw new BadValue('must be HOST:PORT or PORT, such as 127.0.0.1:26431 or 26431 (0 is any free port)');
  }
  return { host, port };
}

/** The host of `HOST:PORT`. */
function hostOf(text: string): string | undefined {
  try {
    return parseAddress(`${text}:1`).host;
  } catch {
    return undefined;
  }
}

/** Listens on every address, IPv4 and IPv6. */
export const ANY_HOST = '::';

/** `HOST:PORT` or a URL; the text is returned unchanged. */
export function parseRendezvous(text: string): string {
  const trimmed = text.trim();
  if (/^(https?|grpcs?|tls):\/\/./i.test(trimmed) && URL.canParse(trimmed)) return trimmed;
  try {
    parseHostPort(trimmed);
  } catch {
    throw new BadValue('must be HOST:PORT, or https:// and that for TLS, such as meet.example.org:26431');
  }
  return trimmed;
}

const MOST_COUNTED = 1_000_000;

/** A positive count. */
export function parseCount(text: string): number {
  const count = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0;
  if (count < 1 || count > MOST_COUNTED) throw new BadValue(`must be a number from 1 to ${MOST_COUNTED}`);
  return count;
}

/** The number of entries to keep; 0: none. */
export function parseAmount(text: string): number {
  const amount = /^\d{1,7}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(amount <= MOST_COUNTED)) throw new BadValue(`must be a number from 0 to ${MOST_COUNTED}`);
  return amount;
}

/** `redis://` or `rediss://` (by TLS), with the usual user, password, port and database. The text is returned unchanged. */
export function parseRedisUrl(text: string): string {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (
    url === undefined ||
    !/^rediss?:$/.test(url.protocol) ||
    url.hostname === '' ||
    !/^(\/\d*)?$/.test(url.pathname)
  ) {
    throw new BadValue('must be redis://HOST[:PORT][/DATABASE], or rediss:// for TLS', { secret: true });
  }
  return trimmed;
}

/** `auto`, `off`, or the name of a network interface. */
export function parseDiscovery(text: string): Discovery {
  const word = text.trim();
  if (word === 'auto' || word === 'off') return word;
  if (!/^[\w.:@-]{1,64}$/.test(word)) throw new BadValue('must be auto, off or the name of a network interface');
  return { interface: word };
}

export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace';
const logLevels: readonly string[] = ['silent', 'error', 'warn', 'info', 'debug', 'trace'] satisfies LogLevel[];

export function parseLogLevel(text: string): LogLevel {
  const level = text.trim().toLowerCase();
  if (!logLevels.includes(level)) throw new BadValue(`must be one of ${logLevels.join(', ')}`);
  return level as LogLevel;
}

/** The number of words in a new code. */
export function parseCodeLength(text: string): number {
  const words = /^\d{1,2}$/.test(text.trim()) ? Number(text) : 0;
  if (words < 2 || words > 16) throw new BadValue('must be a number of words from 2 to 16');
  return words;
}

/** This peer's display name. */
export function parseLabel(text: string): string {
  const label = text.trim();
  const bytes = new TextEncoder().encode(label).length;
  if (bytes < 1 || bytes > MAX_LABEL_BYTES || /\p{Cc}/u.test(label)) {
    throw new BadValue(`must be 1 to ${MAX_LABEL_BYTES} bytes of UTF-8 without control characters`);
  }
  return label;
}

export function parsePath(text: string): string {
  if (text === '' || text.includes('\0')) throw new BadValue('must be a path');
  return text;
}
