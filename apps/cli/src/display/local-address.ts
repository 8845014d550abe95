// SPDX-License-Identifier: MPL-2.0
import { networkInterfaces } from 'node:os';

/** `HOST:PORT` at which another computer on this network can dial a listener on `host`; undefined if there is none. */
export function dialableAddress(host: string, port: number): string | undefined {
  const address = host === '::' || host === '0.0.0.0' || host === '' ? outwardAddress() : host;
  if (address === undefined) return undefined;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** The first non-loopback IPv4 address, else such an IPv6 address that needs no interface name. */
function outwardAddress(): string | undefined {
  const outward = Object.values(networkInterfaces())
    .flatMap((of) => of ?? [])
    .filter(({ internal }) => !internal);
  const usable = outward.filter(({ address }) => !address.startsWith('fe80:'));
  return (usable.find(({ family }) => family === 'IPv4') ?? usable[0])?.address;
}
