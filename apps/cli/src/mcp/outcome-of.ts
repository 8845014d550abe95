// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import { viewsOf } from '../daemon/daemon-transfer.ts';
import type { ToolCall, ToolContext } from './tool-context.ts';

const CANCEL_MS = 5_000;

export interface WaitOptions {
  /** Whether the transfer is in the wanted state. */
  until(transfer: TransferView): boolean;
  /** Ends the wait, not the transfer. The call has its own limit, too. */
  timeoutMs: number;
}

export function hasEnded({ ended }: TransferView): boolean {
  return ended !== undefined;
}

/**
 * Waits until a transfer of the daemon is in the wanted state. If the agent cancels the call, the transfer is cancelled.
 *
 * @returns  the transfer then, or as it is after `timeoutMs`
 * @throws   as `viewsOf`
 */
export async function waitFor(
  daemon: LocalClient,
  id: number,
  { until, timeoutMs }: WaitOptions,
  context: ToolContext,
  call: ToolCall,
): Promise<TransferView> {
  const timeout = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, call.remainingMs())));
  let last: TransferView | undefined;
  try {
    const signal = AbortSignal.any([call.signal, timeout]);
    for await (const view of viewsOf(daemon, id, { signal, progress: true })) {
      last = view;
      if (until(view)) return view;
      call.onProgress(view);
    }
  } catch (reason) {
    if (call.isCancelled() && !context.left) {
      const signal = AbortSignal.timeout(CANCEL_MS);
      await daemon.call('control', { transfer: id, action: 'cancel' }, { signal });
    }
    call.signal.throwIfAborted();
    if (last !== undefined && timeout.aborted) return last;
    throw reason;
  }
  throw new KeibiError('DAEMON_LOST');
}
