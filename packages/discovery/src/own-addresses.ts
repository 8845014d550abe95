// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** Limit for one machine; a peer takes 32 candidates at most, and other kinds need room too. */
const MAX_ADDRESSES = 24;

type Interfaces = NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>;

/**
 * The addresses at which others may reach a listener on `bound`: that one, or those of every interface if it is bound to all.
 *
 * Leaves out loopback and link-local addresses, which need an interface's name (`fe80::`, 169.254). IPv6 comes first because it
 * rarely has a NAT, but both kinds alternate, since a machine may have many of one kind.
 *
 * @param bound  a numeric address
 */
export function reachableAddresses(bound: string, interfaces: Interfaces = networkInterfaces()): string[] {
  if (bound !== '::' && bound !== '0.0.0.0') return [bound];
  const usable = Object.values(interfaces)
    .flatMap((of) => of ?? [])
    .filter(({ internal, address }) => !internal && !isLinkLocal(address))
    .map(({ address }) => address);
  const addresses = [...new Set(usable)];
  const [v4, v6] = [4, 6].map((version) => addresses.filter((address) => isIP(address) === version)) as [
    string[],
    string[],
  ];
  return bound === '0.0.0.0' ? v4.slice(0, MAX_ADDRESSES) : alternating(v6, v4).slice(0, MAX_ADDRESSES);
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address) || address.startsWith('169.254.');
}

function alternating(first: string[], second: string[]): string[] {
  const longest = Math.max(first.length, second.length);
  return Array.from({ length: longest }, (_, i) => [...first.slice(i, i + 1), ...second.slice(i, i + 1)]).flat();
}
