// SPDX-License-Identifier: MPL-2.0
import { isWithin, NetworkCount } from './network.ts';

export interface CrowdLimits {
  /** Limit at one time. */
  most: number;
  /** Limit for one network; wider networks get a multiple (`NetworkCount`). */
  mostOfNetwork: number;
}

interface Member {
  readonly network: string;
  end(): void;
}

/**
 * Connections that have not yet proved honest; an honest one does so at once. A full network loses its oldest connection. If the whole
 * crowd is full, the network with the most connections loses its oldest. So no network can keep another out.
 */
export class Crowd {
  readonly #limits: CrowdLimits;
  readonly #members = new Set<Member>();
  readonly #networks = new NetworkCount();
  /** Connections ended to make room for a newer one, since the start. */
  crowdedOut = 0;

  constructor(limits: CrowdLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#members.size;
  }

  /** @param end  called at most once, if another connection takes the place. @returns a function that gives the place up; idempotent */
  add(network: string, end: () => void): () => void {
    const { most, mostOfNetwork } = this.#limits;
    const full = this.#networks.fullOf(network, mostOfNetwork);
    if (full !== undefined) this.#endOldest((member) => isWithin(member.network, full));
    else if (this.#members.size >= most) this.#endOldest(this.#isOfLargest());
    const member = { network, end };
    this.#members.add(member);
    this.#networks.add(network);
    return () => this.#remove(member);
  }

  /** Ends all connections. */
  close(): void {
    for (const member of [...this.#members]) {
      this.#remove(member);
      member.end();
    }
  }

  #isOfLargest(): (member: Member) => boolean {
    let [largest] = this.#members;
    for (const member of this.#members) {
      if (largest && this.#networks.of(member.network) > this.#networks.of(largest.network)) largest = member;
    }
    return ({ network }) => network === largest?.network;
  }

  #endOldest(isOne: (member: Member) => boolean): void {
    for (const member of this.#members) {
      if (!isOne(member)) continue;
      this.crowdedOut++;
      this.#remove(member);
      member.end();
      return;
    }
  }

  #remove(member: Member): void {
    if (this.#members.delete(member)) this.#networks.remove(member.network);
  }
}
