// SPDX-License-Identifier: MPL-2.0
import type { HostileReceiver } from './hostile-receiver.ts';
import { FILE } from './raw-manifest.ts';

/** The number of offered entries, and a bitmap of those that are files (PROTOCOL 7). */
export async function offeredFiles(receiver: HostileReceiver): Promise<{ count: number; wanted: Buffer }> {
  const { value } = await receiver.hears('offerEnd');
  const pages = receiver.received.flatMap((body) => (body.$case === 'page' ? [Buffer.from(body.value.entries)] : []));
  const wanted = Buffer.alloc(Math.ceil(value.entries / 8));
  let entry = 0;
  for (const page of pages) {
    for (let at = 0; at < page.length; at += 25 + page.readUInt16BE(at + 23), entry++) {
      if (page[at] === FILE) wanted[entry >> 3] = (wanted[entry >> 3] as number) | (1 << (entry & 7));
    }
  }
  return { count: value.entries, wanted };
}
