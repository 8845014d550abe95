// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** The part of a numeric address that one customer of a network has, and limits are about: an IPv4 address, or the /64 of an IPv6 one. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const mapped = /^::ffff:(?<ipv4>\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.groups?.ipv4;
  if (mapped !== undefined) return mapped;
  // An IPv4 address at the end stands for two groups, behind the network.
  const plain = address.replace(/%.*$/, '').replace(/\d+\.\d+\.\d+\.\d+$/, '0:0');
  const [left = [], right = []] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = new Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0');
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** How many of something each network has. */
export class NetworkCount {
  readonly #counts = new Map<string, number>();

  of(network: string): number {
    return this.#counts.get(network) ?? 0;
  }

  add(network: string): void {
    this.#counts.set(network, this.of(network) + 1);
  }

  remove(network: string): void {
    const left = this.of(network) - 1;
    if (left > 0) this.#counts.set(network, left);
    else this.#counts.delete(network);
  }
}
