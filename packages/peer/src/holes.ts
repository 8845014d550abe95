// SPDX-License-Identifier: MPL-2.0
import { formatHostPort, type HostPort, mayDialPeer } from '@keibidrop/discovery';
import type { Listener } from '@keibidrop/native';
import type { Candidate } from '@keibidrop/protocol';

/** A peer that has told where it dials from begins within a round trip; it may take a few tries. */
const PUNCH_WAIT_MS = 10_000;
/** A guest has told so many at most; one port is enough for the control connection. */
const MAX_HOLES_OF_A_GUEST = 4;
/** Places that are remembered, to tell how a connection came. */
const MAX_REMEMBERED = 4096;

/** Nobody needs a hole in a router to come to this machine from itself. */
const NOT_OVER_LOOPBACK = { address: undefined };

/** A sender's side of hole punching (PROTOCOL 2.5): dials, from the listening port, where peers say that they dial from. */
export class Holes {
  readonly #listener: Listener | undefined;
  readonly #places = new Set<string>();

  /** @param listener  absent: nobody is dialled */
  constructor(listener: Listener | undefined) {
    this.#listener = listener;
  }

  /** What a guest has told of itself. */
  openTo(candidates: readonly Candidate[]): void {
    const told = candidates.filter(({ transport }) => transport === 'punched');
    for (const place of told.slice(0, MAX_HOLES_OF_A_GUEST)) this.open(place);
  }

  /** Dials one place until the peer there is met, or for some seconds. A place that a peer must not have us dial is passed over. */
  open({ host, port }: HostPort): void {
    if (this.#listener === undefined || !mayDialPeer(host, NOT_OVER_LOOPBACK)) return;
    if (this.#places.size >= MAX_REMEMBERED) this.#places.clear();
    this.#places.add(formatHostPort({ host, port }));
    this.#listener.punch({ host, port, waitMs: PUNCH_WAIT_MS });
  }

  /** Whether a connection from there has come through a hole. */
  has(place: HostPort): boolean {
    return this.#places.has(formatHostPort(place));
  }
}
