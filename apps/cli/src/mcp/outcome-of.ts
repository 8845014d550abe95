// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';

const ENDED: readonly string[] = ['done', 'failed', 'cancelled'];

export function hasEnded({ state }: TransferView): boolean {
  return ENDED.includes(state);
}

export interface WaitOptions {
  /** What the state must be like for the wait to end. */
  until(transfer: TransferView): boolean;
  /** Called with each state and progress that is told meanwhile. */
  onChange?(transfer: TransferView): void;
  /** Ends the wait, not the transfer. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * Waits for a transfer of the daemon to be as wanted.
 *
 * @returns  how it is then; after `timeoutMs`, how it is at that moment
 * @throws   TRANSFER_UNKNOWN if it has left the list; DAEMON_LOST; `signal.reason`
 */
export async function waitFor(daemon: LocalClient, id: number, options: WaitOptions): Promise<TransferView> {
  const { until, onChange, timeoutMs, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  let last: TransferView | undefined;
  try {
    for await (const { transfer, json } of daemon.stream('watch', {}, { signal: AbortSignal.any([signal, timeout]) })) {
      const { event, ...view } = JSON.parse(json) as TransferView & { event: string };
      if (transfer === id && event === 'removed') break;
      if (transfer === id && event === 'transfer') {
        last = view;
        onChange?.(view);
        if (until(view)) return view;
      }
      if (event === 'present' && last === undefined) break;
    }
  } catch (reason) {
    signal.throwIfAborted();
    if (last === undefined || !timeout.aborted) throw reason;
    return last;
  }
  throw new KeibiError('TRANSFER_UNKNOWN');
}
