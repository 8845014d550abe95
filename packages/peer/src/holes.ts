// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { formatHostPort, type HostPort } from '@keibidrop/discovery';
import type { Listener } from '@keibidrop/native';
import type { Candidate } from '@keibidrop/protocol';

/** A peer that has told where it dials from begins within a round trip; it may take a few tries. */
const PUNCH_WAIT_MS = 10_000;
/** A guest has told so many at most; one port is enough for the control connection. */
const MAX_HOLES_OF_A_GUEST = 4;
/** Places that are remembered, to tell how a connection came. */
const MAX_REMEMBERED = 4096;

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

  /** Dials one place until the peer there is met, or for some seconds. Places of this machine are passed over: nobody may have us knock there. */
  open({ host, port }: HostPort): void {
    if (this.#listener === undefined || isIP(host) === 0 || isOwn(host)) return;
    if (this.#places.size >= MAX_REMEMBERED) this.#places.clear();
    this.#places.add(formatHostPort({ host, port }));
    this.#listener.punch({ host, port, waitMs: PUNCH_WAIT_MS });
  }

  /** Whether a connection from there has come through a hole. */
  has(place: HostPort): boolean {
    return this.#places.has(formatHostPort(place));
  }
}

/** Loopback, unspecified or multicast. */
function isOwn(host: string): boolean {
  const plain = host.replace(/^::ffff:/i, '').toLowerCase();
  if (isIP(plain) === 4) return /^(?:0|127|2[2-5]\d)\./.test(plain);
  return plain === '::' || plain === '::1' || plain.startsWith('ff');
}
