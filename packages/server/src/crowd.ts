// SPDX-License-Identifier: MPL-2.0
import { isWithin, NetworkCount } from './network.ts';

export interface CrowdLimits {
  /** At one time. */
  most: number;
  /** Limit for one network; wider networks get a multiple (`NetworkCount`). */
  mostOfNetwork: number;
}

interface Member {
  readonly network: string;
  end(): void;
}

/**
 * Connections that have not shown yet that they are honest: an honest one does so at once. One too many ends the oldest of its own
 * network; if there is no room at all, the oldest of the network that has most. So no network keeps another out.
 */
export class Crowd {
  readonly #limits: CrowdLimits;
  readonly #members = new Set<Member>();
  readonly #networks = new NetworkCount();
  /** Ended for a newer one, ever. */
  crowdedOut = 0;

  constructor(limits: CrowdLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#members.size;
  }

  /** @param end  called at most once, if another takes the place. @returns gives the place up. Idempotent */
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

  /** Ends all. */
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
