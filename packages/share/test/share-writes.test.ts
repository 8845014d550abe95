// SPDX-License-Identifier: MPL-2.0
import type { MountSource } from '@keibidrop/mount';
import { describeSource } from '../../mount/test/source-contract.ts';
import { describeSourceWrites } from '../../mount/test/source-writes-contract.ts';
import { GuestSource } from '../src/guest/guest-source.ts';
import { ShareRoom } from './share-room.ts';

/** A folder that is shared and seen by a guest, over a real session. */
async function open(folder: string): Promise<MountSource> {
  const room = await ShareRoom.open();
  await room.share('', { dir: folder });
  const source = new GuestSource(await room.connect());
  source.close = () => room.close();
  return source;
}

describeSource('GuestSource', open);
describeSourceWrites('GuestSource, written', open);
