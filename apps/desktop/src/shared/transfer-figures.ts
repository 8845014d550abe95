// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/peer/local';

type Figures = Pick<TransferView, 'state' | 'bytes' | 'totalBytes' | 'totalsFinal' | 'bytesPerSecond'>;

/** How much of it is there, 0 to 1; undefined while nobody knows how much it is. */
export function shareOf({ state, bytes, totalBytes, totalsFinal }: Figures): number | undefined {
  if (state === 'done') return 1;
  if (totalBytes > 0) return Math.min(1, bytes / totalBytes);
  return totalsFinal && state === 'running' ? 1 : undefined;
}

/** Seconds to its end at the speed it has; undefined while that says nothing. */
export function secondsLeft({ state, bytes, totalBytes, totalsFinal, bytesPerSecond }: Figures): number | undefined {
  if (state !== 'running' || !totalsFinal || !(bytesPerSecond > 0)) return undefined;
  return Math.max(0, totalBytes - bytes) / bytesPerSecond;
}

type Coded = Pick<TransferView, 'state' | 'code' | 'contact' | 'receivers'> & {
  peers: readonly Pick<TransferView['peers'][number], 'state'>[];
};

/** Whether somebody may still come with its code: of a send for several that is so while it runs for the first of them, too. */
export function awaitsReceivers({ state, code, contact, receivers, peers }: Coded): boolean {
  if (code === undefined || contact !== undefined) return false;
  if (state === 'waiting') return true;
  if (receivers === 1) return false;
  // One that has failed has given its place back.
  return receivers === 0 || peers.filter((peer) => peer.state !== 'failed').length < receivers;
}
