// SPDX-License-Identifier: MPL-2.0
import type { NearbySenderView } from '@keibidrop/daemon/local';

/** Merges known and found senders, each offer once, at the first address found; an address on this computer wins. */
export function merged(known: readonly NearbySenderView[], found: readonly NearbySenderView[]): NearbySenderView[] {
  const offers = new Map<string, NearbySenderView>();
  for (const sender of [...known, ...found]) {
    const key = sender.name ?? sender.address;
    const before = offers.get(key);
    if (before === undefined || (before.path !== 'local' && sender.path === 'local')) offers.set(key, sender);
  }
  return [...offers.values()];
}
