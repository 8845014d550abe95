// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** Limits of wider networks, as multiples of the limit of one address (IPv6: of a /64). */
const SHARE_OF_24 = 4;
const SHARE_OF_56 = 2;
const SHARE_OF_48 = 4;

/** A network, with its limit as a multiple of the narrowest one's. */
interface Level {
  readonly name: string;
  readonly share: number;
}

/** The narrowest network of a numeric address: the IPv4 address itself, or the /64 of an IPv6 one. `NetworkCount` adds the wider ones. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const mapped = /^::ffff:(?<ipv4>\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.groups?.ipv4;
  if (mapped !== undefined) return mapped;
  // A trailing IPv4 address stands for two groups, which are outside the network part.
  const plain = address.replace(/%.*$/, '').replace(/\d+\.\d+\.\d+\.\d+$/, '0:0');
  const [left = [], right = []] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = new Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0');
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** A network and the wider ones around it, narrowest first: IPv4 /32 and /24, IPv6 /64, /56 and /48. Other names have no wider network. */
function levelsOf(network: string): Level[] {
  const narrowest = { name: network, share: 1 };
  const [a = '0', b = '0', c = '0', d = '0'] = network.replace(/::\/64$/, '').split(':');
  if (network.endsWith('::/64')) {
    const high = (Number.parseInt(d, 16) & 0xff00).toString(16);
    const of56 = { name: `${a}:${b}:${c}:${high}::/56`, share: SHARE_OF_56 };
    return [narrowest, of56, { name: `${a}:${b}:${c}::/48`, share: SHARE_OF_48 }];
  }
  if (isIP(network) !== 4) return [narrowest];
  return [narrowest, { name: `${network.slice(0, network.lastIndexOf('.'))}.0/24`, share: SHARE_OF_24 }];
}

/** The widest counted network that contains this one. */
export function widestOf(network: string): string {
  return levelsOf(network).at(-1)?.name ?? network;
}

/** Whether `name` is `inner` or one of the wider networks around it. */
export function isWithin(inner: string, name: string): boolean {
  return levelsOf(inner).some((level) => level.name === name);
}

/** Counts per network; each addition also counts for the wider networks around the address. */
export class NetworkCount {
  readonly #counts = new Map<string, number>();

  /** The count of this network, including all networks within it. */
  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Whether one more fits: `limit` applies to the narrowest network, and a multiple of it to each wider one. */
  hasRoom(network: string, limit: number): boolean {
    return this.fullOf(network, limit) === undefined;
  }

  /** The narrowest full network, if any. */
  fullOf(network: string, limit: number): string | undefined {
    return levelsOf(network).find(({ name, share }) => this.of(name) >= limit * share)?.name;
  }

  add(network: string, count = 1): void {
    for (const { name } of levelsOf(network)) this.#counts.set(name, this.of(name) + count);
  }

  remove(network: string, count = 1): void {
    for (const { name } of levelsOf(network)) {
      const left = this.of(name) - count;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    }
  }
}
