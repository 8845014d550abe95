// SPDX-License-Identifier: MPL-2.0
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { HostPort } from '../host-port.ts';
import { isIn } from '../lan/lan-networks.ts';

// Decides, for the whole program, whether to dial an address that a peer or a server names (PROTOCOL 2.6). Three kinds of addresses are not
// checked here: those the user names, those in this machine's registry, and the sources of multicast packets.

type Interfaces = NodeJS.Dict<Pick<NetworkInterfaceInfo, 'cidr'>[]>;

/** How we reached the party that names an address. */
export interface MetAt {
  /** Numeric address of the mailbox's server, which is the rendezvous or the peer itself. Undefined if unknown. */
  readonly address: string | undefined;
  /** The rendezvous that the user named, if any. */
  readonly rendezvous?: HostPort | undefined;
  /** `address` belongs to `rendezvous`. */
  readonly reachedRendezvous?: boolean;
  /** The relay that this rendezvous names, if any. */
  readonly relay?: HostPort | undefined;
}

/** Addresses that no peer or relay has: unspecified, link-local, multicast, reserved, IPv4-compatible. */
const NOWHERE = blockOf(
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
);
const LOOPBACK = blockOf(['127.0.0.0', 8], ['::1', 128]);
/** Private networks, one list per range. An own address without a subnet (a tunnel's) matches the whole range. */
const PRIVATE_RANGES = [
  blockOf(['10.0.0.0', 8]),
  blockOf(['172.16.0.0', 12]),
  blockOf(['192.168.0.0', 16]),
  blockOf(['100.64.0.0', 10]),
  blockOf(['fc00::', 7]),
  blockOf(['fec0::', 10]),
];

/**
 * Whether we may dial a peer at an address that another peer has named. Loopback is allowed only if we met over
 * loopback, a private address only if it is in a network of this machine.
 *
 * @param host  numeric; a name is refused, since its owner decides where it resolves to
 */
export function mayDialPeer(host: string, { address }: MetAt, interfaces: Interfaces = networkInterfaces()): boolean {
  if (isIP(host) === 0) return false;
  const scope = scopeOf(host);
  if (scope === 'loopback') return address !== undefined && scopeOf(address) === 'loopback';
  return scope === 'public' || (scope === 'private' && isOnOwnNetwork(host, interfaces));
}

/**
 * Where to dial a relay that another peer has named: the rendezvous' own host, or a public address. Resolves the name
 * here, so that a later lookup cannot lead elsewhere.
 *
 * @param options.vouched  accept only the rendezvous itself or a relay that it names, not the peer's own choice
 * @returns                undefined if the relay must not be dialled
 */
export async function dialableRelay(
  { host, port }: HostPort,
  met: MetAt,
  { vouched = false }: { vouched?: boolean } = {},
): Promise<HostPort | undefined> {
  const { rendezvous, relay } = met;
  const known = [rendezvous, relay].some((each) => each !== undefined && isSameHost(host, each.host));
  // A lookup shows the owner of the name where we are.
  if (vouched && !known && isIP(host) === 0) return undefined;
  const own = new Set((await addressesOf(rendezvous?.host)).map(plain));
  if (met.reachedRendezvous && met.address !== undefined) own.add(plain(met.address));
  const named = relay !== undefined && isSameHost(host, relay.host) && port === relay.port;
  const dialable = (await addressesOf(host)).filter((address) => {
    if (own.has(plain(address))) return true;
    const scope = scopeOf(address);
    const leadsOut = scope === 'public' || (scope === 'loopback' && mayDialPeer(address, met));
    return leadsOut && (named || !vouched);
  });
  // Prefer the address that reached the server, then its family: this machine may have only one of them.
  const family = isIP(met.address ?? '');
  const best =
    dialable.find((address) => address === met.address) ?? dialable.find((address) => isIP(address) === family);
  const found = best ?? dialable[0];
  return found === undefined ? undefined : { host: found, port };
}

type Scope = 'nowhere' | 'loopback' | 'private' | 'public';

function scopeOf(address: string): Scope {
  if (isIn(LOOPBACK, address)) return 'loopback';
  if (isIn(NOWHERE, address)) return 'nowhere';
  return PRIVATE_RANGES.some((range) => isIn(range, address)) ? 'private' : 'public';
}

function isOnOwnNetwork(address: string, interfaces: Interfaces): boolean {
  return Object.values(interfaces)
    .flatMap((of) => of ?? [])
    .some(({ cidr }) => {
      const [net = '', bits = ''] = cidr?.split('/') ?? [];
      if (isIP(net) === 0) return false;
      const alone = Number(bits) === (isIP(net) === 6 ? 128 : 32);
      if (alone) return PRIVATE_RANGES.some((range) => isIn(range, net) && isIn(range, address));
      return isIn(blockOf([net, Number(bits)]), address);
    });
}

function blockOf(...subnets: [net: string, bits: number][]): BlockList {
  const block = new BlockList();
  for (const [net, bits] of subnets) block.addSubnet(net, bits, isIP(net) === 6 ? 'ipv6' : 'ipv4');
  return block;
}

async function addressesOf(host: string | undefined): Promise<string[]> {
  if (host === undefined) return [];
  if (isIP(host) !== 0) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

function isSameHost(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

/** An IPv4-mapped IPv6 address counts as its IPv4 address. */
function plain(host: string): string {
  return host.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
}
