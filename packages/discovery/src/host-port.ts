// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { KeibiError } from '@keibidrop/protocol';

/** A place to dial. `host` is a name or an address, IPv6 without brackets. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
  /** Only for a rendezvous: dial by TLS, with a certificate for `host`. */
  readonly tls?: boolean;
}

const BRACKETED = /^\[(?<host>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]:(?<port>\d{1,5})$/;
const PLAIN = /^(?<host>[\w.-]{1,253}):(?<port>\d{1,5})$/;

/** Parses `192.0.2.1:26431`, `[2001:db8::1]:26431` or `name:26431`. @throws USAGE */
export function parseHostPort(text: string): HostPort {
  const bracketed = BRACKETED.exec(text)?.groups;
  const { host = '', port = '' } = bracketed ?? PLAIN.exec(text)?.groups ?? {};
  const fits = Number(port) >= 1 && Number(port) <= 65_535 && (bracketed === undefined || isIP(host) === 6);
  if (!fits) {
    throw new KeibiError(
      'USAGE',
      `"${text}" is not HOST:PORT. Examples: 192.0.2.1:26431, [2001:db8::1]:26431, name:26431.`,
    );
  }
  return { host, port: Number(port) };
}

/** Formats a place so that `parseHostPort` can read it. */
export function formatHostPort({ host, port }: HostPort): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether a place named by a peer or a server can be dialled. */
export function isHostPort(place: HostPort): boolean {
  try {
    parseHostPort(formatHostPort(place));
    return true;
  } catch {
    return false;
  }
}

/** Default ports of URL schemes. */
const URL_PORTS: Readonly<Record<string, string>> = {
  'https:': '443',
  'grpcs:': '443',
  'http:': '80',
  'grpc:': '80',
  'tls:': '26431',
};

/** Parses a rendezvous: `HOST:PORT`, or a URL, of which only scheme, host and port matter. @throws USAGE */
export function parseRendezvous(text: string): HostPort {
  if (!text.includes('://') || !URL.canParse(text)) return parseHostPort(text);
  const { protocol, hostname, port } = new URL(text);
  const place = parseHostPort(`${hostname}:${port || URL_PORTS[protocol]}`);
  return /^(https|grpcs|tls):$/.test(protocol) ? { ...place, tls: true } : place;
}
