// SPDX-License-Identifier: MPL-2.0
import type { NearbySenderView } from '@keibidrop/peer/local';

/** Those known and those found, each offer once: at the address by which it was found first, with this machine before its networks. */
export function merged(known: readonly NearbySenderView[], found: readonly NearbySenderView[]): NearbySenderView[] {
  const offers = new Map<string, NearbySenderView>();
  for (const sender of [...known, ...found]) {
    const key = sender.name ?? sender.address;
    const before = offers.get(key);
    if (before === undefined || (before.path !== 'local' && sender.path === 'local')) offers.set(key, sender);
  }
  return [...offers.values()];
}

/** Without those that are sends of this daemon: nobody receives from oneself. @param listening  where its own wait, `HOST:PORT` each */
export function withoutOwn(
  senders: readonly NearbySenderView[],
  listening: readonly (string | undefined)[],
): NearbySenderView[] {
  const own = new Set(listening.map(portOf));
  return senders.filter(({ path, address }) => path !== 'local' || !own.has(portOf(address)));
}

function portOf(address: string | undefined): string {
  return address?.split(':').pop() ?? '';
}
