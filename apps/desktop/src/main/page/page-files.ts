// SPDX-License-Identifier: MPL-2.0
import { promises as files } from 'node:fs';
import { extname, join, normalize, sep } from 'node:path';

/** Scheme of the page's addresses. */
export const SCHEME = 'keibidrop-app';
/** Origin of the page, used by nothing else. */
export const PAGE_ORIGIN = `${SCHEME}://window`;
export const PAGE_URL = `${PAGE_ORIGIN}/index.html`;

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

export interface Served {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Response for an address of the page: a file of `directory`, or 404. Never a file from elsewhere. */
export async function fileAt(directory: string, address: string): Promise<Served> {
  try {
    const { origin, protocol: scheme, host, pathname } = new URL(address);
    // Node's URL gives an unknown scheme no origin.
    if (origin !== PAGE_ORIGIN && `${scheme}//${host}` !== PAGE_ORIGIN) return NOT_FOUND;
    const path = normalize(join(directory, decodeURIComponent(pathname)));
    const type = TYPES[extname(path)];
    if (!path.startsWith(directory + sep) || path.includes('\0') || type === undefined) return NOT_FOUND;
    return { status: 200, headers: headersOf(type), body: await files.readFile(path) };
  } catch {
    return NOT_FOUND; // no such file, or not a valid address
  }
}

function headersOf(type: string): Record<string, string> {
  return {
    'content-type': type,
    'content-security-policy': CSP,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  };
}

const NOT_FOUND: Served = { status: 404, headers: headersOf('text/plain'), body: Buffer.from('Not found.\n') };
