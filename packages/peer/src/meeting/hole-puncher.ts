// SPDX-License-Identifier: MPL-2.0
import { formatHostPort, type HostPort, mayDialPeer } from '@keibidrop/discovery';
import type { Listener } from '@keibidrop/native';
import type { Candidate } from '@keibidrop/protocol';

/** A peer dials within a round trip of announcing its address, but may need a few tries. */
const PUNCH_WAIT_MS = 10_000;
/** Limit of addresses per guest; one port is enough for the control connection. */
const MAX_HOLES_OF_A_GUEST = 4;
/** Limit of remembered places, which show how a connection came. */
const MAX_REMEMBERED = 4096;

/** This machine needs no hole in a router to reach itself. */
const NOT_OVER_LOOPBACK = { address: undefined };

/**
 * The sender's side of hole punching (PROTOCOL 2.5): dials, from the listening port, the addresses from which peers say that
 * they dial.
 */
export class HolePuncher {
  readonly #listener: Listener | undefined;
  readonly #places = new Set<string>();

  /** @param listener  absent: never dials */
  constructor(listener: Listener | undefined) {
    this.#listener = listener;
  }

  /** Opens holes to the punched candidates of a guest. */
  openTo(candidates: readonly Candidate[]): void {
    const announced = candidates.filter(({ transport }) => transport === 'punched');
    for (const place of announced.slice(0, MAX_HOLES_OF_A_GUEST)) this.open(place);
  }

  /** Dials one place until the peer there is met, or for some seconds. Ignores a place that a peer may not make us dial. */
  open({ host, port }: HostPort): void {
    if (this.#listener === undefined || !mayDialPeer(host, NOT_OVER_LOOPBACK)) return;
    if (this.#places.size >= MAX_REMEMBERED) this.#places.clear();
    this.#places.add(formatHostPort({ host, port }));
    this.#listener.punch({ host, port, waitMs: PUNCH_WAIT_MS });
  }

  /** Whether a connection from there came through a hole. */
  has(place: HostPort): boolean {
    return this.#places.has(formatHostPort(place));
  }
}
