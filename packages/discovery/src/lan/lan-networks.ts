// SPDX-License-Identifier: MPL-2.0
import { BlockList, isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { KeibiError } from '@keibidrop/protocol';

/** Networks to search for peers: `auto` is all but loopback, `off` is none, or one named interface. */
export type Discovery = 'auto' | 'off' | { readonly interface: string };

/** One interface with one IP version: a multicast packet leaves through exactly one. */
export interface LanNetwork {
  /** `eth0` */
  readonly interface: string;
  readonly family: 4 | 6;
  /** Our address there; for IPv6 the link-local one. */
  readonly address: string;
  /** How a socket option names the interface. */
  readonly membership: string;
  /** Whether a packet from `address` comes from this network without passing a router (RFC 6762 11). */
  contains(address: string): boolean;
}

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** A machine with many containers has many interfaces. */
const MAX_NETWORKS = 32;

const privateAddresses = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const) {
  privateAddresses.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateAddresses.addSubnet(net, bits, 'ipv6');

/** Whether `address` is not routed on the internet. */
export function isPrivateAddress(address: string): boolean {
  return isIn(privateAddresses, address);
}

/** The networks that `discovery` selects at this moment. A missing interface gives none; `assertInterface` reports it beforehand. */
export function lanNetworks(discovery: Discovery, interfaces: Interfaces = networkInterfaces()): LanNetwork[] {
  if (discovery === 'off') return [];
  const named = discovery === 'auto' ? undefined : discovery.interface;
  const networks = Object.entries(interfaces).flatMap(([name, addresses = []]) => {
    const wanted = named === undefined ? addresses.some(({ internal }) => !internal) : name === named;
    return wanted ? networksOf(name, addresses) : [];
  });
  return networks.slice(0, MAX_NETWORKS);
}

/** @throws CONFIG_INVALID if `discovery` names an interface that this machine does not have */
export function assertInterface(discovery: Discovery, interfaces: Interfaces = networkInterfaces()): void {
  if (typeof discovery === 'string' || interfaces[discovery.interface] !== undefined) return;
  const there = Object.keys(interfaces).join(', ') || 'none';
  throw new KeibiError(
    'CONFIG_INVALID',
    `There is no network interface "${discovery.interface}" with an address. There are: ${there}.`,
  );
}

function networksOf(name: string, addresses: NetworkInterfaceInfo[]): LanNetwork[] {
  const v4 = addresses.find(({ family }) => family === 'IPv4');
  const v6 = addresses.find(({ family, address }) => family === 'IPv6' && /^fe[89ab]/i.test(address));
  const subnets = subnetsOf(addresses);
  const networks: LanNetwork[] = [];
  if (v4) {
    const { address } = v4;
    networks.push({
      interface: name,
      family: 4,
      address,
      membership: address,
      contains: (other) => isIn(subnets, other),
    });
  }
  if (v6) {
    // Windows identifies interfaces by number.
    const scope = process.platform === 'win32' ? String(v6.scopeid) : name;
    networks.push({
      interface: name,
      family: 6,
      address: v6.address,
      membership: `::%${scope}`,
      contains: (other) => (other.includes('%') ? other.endsWith(`%${scope}`) : isIn(subnets, other)),
    });
  }
  return networks;
}

function subnetsOf(addresses: NetworkInterfaceInfo[]): BlockList {
  const subnets = new BlockList();
  for (const { cidr } of addresses) {
    const [net = '', bits = ''] = cidr?.split('/') ?? [];
    if (net !== '') subnets.addSubnet(net, Number(bits), isIPv6(net) ? 'ipv6' : 'ipv4');
  }
  return subnets;
}

/** Whether `address` is in the list; a zone (`%eth0`) is ignored. */
export function isIn(list: BlockList, address: string): boolean {
  const [plain = ''] = address.split('%');
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}
