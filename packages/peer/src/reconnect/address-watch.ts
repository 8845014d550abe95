// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Node reports no address changes, so the addresses are polled. */
const LOOK_EVERY_MS = 1000;

/** Addresses of active interfaces, without zones. */
function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((of) => of?.map(({ address }) => plain(address)) ?? []));
}

/**
 * Calls back when this machine's addresses change, because it has moved or woken up. The timer does not keep the process alive.
 * @returns  stops the watch; no call follows
 */
export function watchOwnAddresses(onChange: (own: ReadonlySet<string>) => void): () => void {
  let known = ownAddresses();
  const timer = setInterval(() => {
    const own = ownAddresses();
    if (own.size === known.size && [...own].every((address) => known.has(address))) return;
    known = own;
    onChange(own);
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Calls back once if this machine loses the address at its end of a connection, so that replies no longer arrive.
 * @returns  stops the watch; no call follows
 */
export function watchOwnEnd({ localAddress }: Pick<Socket, 'localAddress'>, onGone: () => void): () => void {
  const address = plain(localAddress ?? '');
  const stop = watchOwnAddresses((own) => {
    if (own.has(address)) return;
    stop();
    onGone();
  });
  // An address that is not in the list, as in some containers, cannot vanish from it.
  if (!ownAddresses().has(address)) stop();
  return stop;
}

function plain(address: string): string {
  return address.replace(/^::ffff:/, '').replace(/%.*$/, '');
}
