// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import { viewsOf } from '../daemon-transfer.ts';

export interface WaitOptions {
  /** What the transfer must be like for the wait to end. */
  until(transfer: TransferView): boolean;
  /** Ends the wait, not the transfer. */
  timeoutMs: number;
  signal: AbortSignal;
}

export function hasEnded({ ended }: TransferView): boolean {
  return ended !== undefined;
}

/**
 * Waits for a transfer of the daemon to be as wanted.
 *
 * @returns  how it is then; after `timeoutMs`, how it is at that moment
 * @throws   as `viewsOf`
 */
export async function waitFor(daemon: LocalClient, id: number, options: WaitOptions): Promise<TransferView> {
  const { until, timeoutMs, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  let last: TransferView | undefined;
  try {
    for await (const view of viewsOf(daemon, id, { signal: AbortSignal.any([signal, timeout]) })) {
      last = view;
      if (until(view)) return view;
    }
  } catch (reason) {
    signal.throwIfAborted();
    if (last !== undefined && timeout.aborted) return last;
    throw reason;
  }
  throw new KeibiError('DAEMON_LOST');
}
