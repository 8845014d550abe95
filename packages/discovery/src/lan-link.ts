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
  /** Another than 5353 makes a world of its own. */
  port: number;
  /** A query from this network, our own too. */
  onQuery?(query: QueryPacket): void;
  /** A response from this network, our own too, and the address it came from: IPv6 link-local with its scope. */
  onResponse?(response: ResponsePacket, from: string): void;
}

/**
 * Multicast DNS on one network: one socket, in the group, on the port that all of the machine share.
 *
 * What cannot be decoded, or comes from another network, is dropped. A network that goes away makes it silent, no error.
 */
export class LanLink {
  readonly network: LanNetwork;
  readonly #mdns: MulticastDNS;

  /** @throws an error of the system if the network takes no multicast or the port is another's alone */
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
      // One for both families would hear each IPv4 packet a second time.
      socket: createSocket({ type, reuseAddr: true, ipv6Only: family === 6 }),
      type,
      ip: GROUPS[family],
      port,
      interface: membership,
      // Bound to the interface's address it would hear no multicast.
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

  tell(answers: LanRecord[]): Promise<void> {
    return new Promise((resolve) => this.#mdns.respond({ answers }, () => resolve()));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#mdns.destroy(() => resolve()));
  }

  /** multicast-dns tells a group that cannot be joined as a warning, and joins before it is ready. */
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

/** Whether a question that goes out on `network` is heard again. */
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
