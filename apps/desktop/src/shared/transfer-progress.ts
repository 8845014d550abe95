// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';

type Figures = Pick<TransferView, 'state' | 'bytes' | 'totalBytes' | 'totalsFinal' | 'bytesPerSecond'>;

/** Progress, 0 to 1; undefined while the size is unknown. */
export function shareOf({ state, bytes, totalBytes, totalsFinal }: Figures): number | undefined {
  if (state === 'done') return 1;
  if (totalBytes > 0) return Math.min(1, bytes / totalBytes);
  return totalsFinal && state === 'running' ? 1 : undefined;
}

/** Seconds left at the current speed; undefined while that cannot be estimated. */
export function secondsLeft({ state, bytes, totalBytes, totalsFinal, bytesPerSecond }: Figures): number | undefined {
  if (state !== 'running' || !totalsFinal || !(bytesPerSecond > 0)) return undefined;
  return Math.max(0, totalBytes - bytes) / bytesPerSecond;
}

type Coded = Pick<TransferView, 'state' | 'code' | 'contact' | 'receivers'> & {
  peers: readonly Pick<TransferView['peers'][number], 'state'>[];
};

/** Whether a receiver can still join with the code, also while a send for several receivers already runs. */
export function awaitsReceivers({ state, code, contact, receivers, peers }: Coded): boolean {
  if (code === undefined || contact !== undefined) return false;
  if (state === 'waiting') return true;
  if (receivers === 1) return false;
  // A failed receiver has freed its place.
  return receivers === 0 || peers.filter((peer) => peer.state !== 'failed').length < receivers;
}
