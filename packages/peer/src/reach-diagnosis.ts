// SPDX-License-Identifier: MPL-2.0
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  formatHostPort,
  type HostPort,
  isReached,
  type ObservedWithClock,
  observePort,
  parseRendezvous,
  reachableAddresses,
  tryPortMapping,
} from '@keibidrop/discovery';
import { Listener } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import type { ListenAddress } from '@keibidrop/settings';
import type { ReachOptions } from './api.ts';
import type { Finding } from './finding.ts';

export interface ReachDiagnosisOptions {
  listen: ListenAddress;
  discovery: ReachOptions['discovery'];
  /** Servers that report how they see this machine: `HOST:PORT` or URLs. A name with several addresses counts as several. */
  rendezvous: readonly string[];
  signal: AbortSignal;
}

/** More servers would report the same. */
const MOST_SERVERS = 4;

const UNKNOWN: Finding = { status: 'note', text: 'not known without a server: name one with --rendezvous HOST:PORT' };

/** Tests how others can reach this machine, as far as outside servers can tell. */
export class ReachDiagnosis {
  readonly #options: ReachDiagnosisOptions;
  /** The observations of the servers that answered. */
  #seen: { server: HostPort; observed: ObservedWithClock }[] = [];

  constructor(options: ReachDiagnosisOptions) {
    this.#options = options;
  }

  ipv6(): Finding {
    const addresses = Object.values(networkInterfaces())
      .flatMap((of) => of ?? [])
      .filter(({ family, internal, address }) => family === 'IPv6' && !internal && /^[23]/.test(address));
    const [first] = addresses;
    return first === undefined
      ? {
          status: 'note',
          text: 'there is no public address: peers come by IPv4; from other networks, see keibidrop help relays',
        }
      : { status: 'ok', text: `${first.address} is public: peers that have IPv6 need no NAT` };
  }

  /** Asks every server from one port, in turn. */
  async rendezvous(): Promise<Finding> {
    const { rendezvous, signal } = this.#options;
    if (rendezvous.length === 0)
      return {
        status: 'note',
        text: 'none is named: peers meet on one network or by --connect; for others, see keibidrop help relays',
      };
    const servers = (await Promise.all(rendezvous.map(addressesOf))).flat().slice(0, MOST_SERVERS);
    const silent: string[] = [];
    for (const server of servers) {
      const fromPort = this.#seen[0]?.observed.fromPort ?? 0;
      try {
        this.#seen.push({ server, observed: await observePort(server, { fromPort, signal }) });
      } catch {
        signal.throwIfAborted();
        silent.push(formatHostPort(server));
      }
    }
    const answering = this.#seen.map(({ server }) => formatHostPort(server)).join(', ');
    if (silent.length === 0) return { status: 'ok', text: `${answering} answers` };
    const text = `${silent.join(', ')} does not answer: check the address and the network, and see keibidrop help relays`;
    return { status: 'warning', text: answering === '' ? text : `${answering} answers, ${text}` };
  }

  /** How far this machine's clock is ahead of the first server that reports its own, in milliseconds. */
  get clockAheadMs(): number | undefined {
    return this.#seen.find(({ observed }) => observed.aheadMs !== undefined)?.observed.aheadMs;
  }

  nat(): Finding {
    const [first, ...others] = this.#seen.map(({ observed }) => observed);
    if (first === undefined) return UNKNOWN;
    if (reachableAddresses('::').includes(first.host))
      return { status: 'ok', text: `none: ${first.host} is an address of this machine` };
    const alike = others.filter(({ host }) => isIP(host) === isIP(first.host));
    const seen = [first, ...alike].map(formatHostPort).join(' and ');
    const port = `port ${first.fromPort} is seen as ${seen}`;
    if (alike.length === 0) {
      return {
        status: 'note',
        text: `${port}; name a second server with --rendezvous to know whether it can be punched`,
      };
    }
    return alike.every(({ host, port: outside }) => host === first.host && outside === first.port)
      ? { status: 'ok', text: `the same for every server (cone): ${port}; it can be punched` }
      : {
          status: 'warning',
          text: `another port for each server (symmetric): ${port}; peers need a relay or a mapped port: keibidrop help relays`,
        };
  }

  /** Listens, and asks a server to dial back. */
  async firewall(): Promise<Finding> {
    const { listen, signal } = this.#options;
    const [known] = this.#seen;
    if (known === undefined) return UNKNOWN;
    const listener = openListener(listen);
    if (listener === undefined)
      return { status: 'note', text: 'not known while the port is taken: choose another with --listen' };
    const { port } = listener;
    try {
      const reached = await isReached(known.server, { port, signal });
      return reached
        ? { status: 'ok', text: `port ${port} is reached from outside` }
        : {
            status: 'note',
            text: `port ${port} is not reached from outside: a NAT or a firewall keeps others out, unless both sides punch; see keibidrop help firewalls`,
          };
    } finally {
      await listener.close();
    }
  }

  async mapping(): Promise<Finding> {
    const { listen, discovery, signal } = this.#options;
    if (discovery === 'off')
      return { status: 'note', text: 'is not tried: discovery is off, and --discovery auto tries it' };
    const [known] = this.#seen;
    if (known !== undefined && reachableAddresses('::').includes(known.observed.host)) {
      return { status: 'ok', text: 'is not needed: there is no NAT' };
    }
    try {
      const { by, host, port } = await tryPortMapping(listen.port || 26431, { signal });
      return { status: 'ok', text: `the router gives ${formatHostPort({ host, port })} by ${by}` };
    } catch (reason) {
      signal.throwIfAborted();
      const { message } = KeibiError.from(reason, 'PEER_UNREACHABLE');
      return { status: 'note', text: `${message} For a way without, see keibidrop help firewalls.` };
    }
  }
}

/** Every address of a server, IPv4 first, because that is where NATs are. */
async function addressesOf(text: string): Promise<HostPort[]> {
  const { host, port } = parseRendezvous(text);
  const found = await lookup(host, { all: true, order: 'ipv4first' }).catch(() => []);
  return found.length === 0 ? [{ host, port }] : found.map(({ address }) => ({ host: address, port }));
}

function openListener({ host, port }: HostPort): Listener | undefined {
  try {
    return Listener.open({ host, port, onConnection: () => {} });
  } catch {
    return undefined;
  }
}
