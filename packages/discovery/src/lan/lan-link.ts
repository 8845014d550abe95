// SPDX-License-Identifier: MPL-2.0
import { createSocket, type RemoteInfo } from 'node:dgram';
import createMdns, {
  type MulticastDNS,
  type QueryOutgoingPacket,
  type QueryPacket,
  type ResponsePacket,
} from 'multicast-dns';
import type { LanNetwork } from './lan-networks.ts';
import { type LanRecord, lanQuestion } from './lan-records.ts';

const GROUPS = { 4: '224.0.0.251', 6: 'ff02::fb' } as const;

export interface LanLinkOptions {
  /** Multicast DNS port. A port other than 5353 isolates a test. */
  port: number;
  /** Receives queries from this network, including our own. */
  onQuery?(query: QueryPacket): void;
  /** Receives responses from this network, including our own. `from` is the source address, with its scope if link-local. */
  onResponse?(response: ResponsePacket, from: string): void;
}

/**
 * Multicast DNS on one network: one socket, a member of the group, on the port shared by all programs of the machine.
 *
 * Drops packets that cannot be decoded or come from another network. When the network goes away, the link falls silent without an error.
 */
export class LanLink {
  readonly network: LanNetwork;
  readonly #mdns: MulticastDNS;

  /** @throws  a system error if the network takes no multicast, or another program holds the port exclusively */
  static async open(network: LanNetwork, options: LanLinkOptions): Promise<LanLink> {
    const link = new LanLink(network, options);
    try {
      await link.#ready();
      return link;
    } catch (reason) {
      await link.close();
      throw reason;
    }
  }

  private constructor(network: LanNetwork, { port, onQuery, onResponse }: LanLinkOptions) {
    const { family, membership } = network;
    this.network = network;
    const type = family === 6 ? 'udp6' : 'udp4';
    this.#mdns = createMdns({
      // A socket for both families would receive each IPv4 packet twice.
      socket: createSocket({ type, reuseAddr: true, ipv6Only: family === 6 }),
      type,
      ip: GROUPS[family],
      port,
      interface: membership,
      // A socket bound to the interface's address would receive no multicast.
      bind: family === 6 ? '::' : '0.0.0.0',
    });
    const fromHere = ({ address }: RemoteInfo) => network.contains(address);
    if (onQuery) this.#mdns.on('query', (query, from) => void (fromHere(from) && onQuery(query)));
    if (onResponse)
      this.#mdns.on('response', (response, from) => void (fromHere(from) && onResponse(response, from.address)));
  }

  ask(query: QueryOutgoingPacket = { questions: lanQuestion() }): void {
    this.#mdns.query(query);
  }

  announce(answers: LanRecord[]): Promise<void> {
    return new Promise((resolve) => this.#mdns.respond({ answers }, () => resolve()));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#mdns.destroy(() => resolve()));
  }

  /** multicast-dns reports a group that cannot be joined as a warning, and joins before it emits 'ready'. */
  #ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      let joined = false;
      let refusal: Error | undefined;
      this.#mdns.on('networkInterface', () => {
        joined = true;
      });
      this.#mdns.on('warning', (error) => {
        refusal ??= error;
      });
      this.#mdns.on('error', reject);
      this.#mdns.on('ready', () =>
        joined ? resolve() : reject(refusal ?? new Error('the network takes no multicast')),
      );
    });
  }
}

/** Whether a query sent on `network` comes back to this machine. */
export async function hearsItself(
  network: LanNetwork,
  { port, withinMs }: { port: number; withinMs: number },
): Promise<boolean> {
  let answer: (heard: boolean) => void = () => {};
  const heard = new Promise<boolean>((resolve) => {
    answer = resolve;
  });
  const link = await LanLink.open(network, { port, onQuery: () => answer(true) }).catch(() => undefined);
  const timer = setTimeout(() => answer(false), withinMs);
  link?.ask();
  try {
    return link !== undefined && (await heard);
  } finally {
    clearTimeout(timer);
    await link?.close();
  }
}
