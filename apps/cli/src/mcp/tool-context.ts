// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import type { CallToolResult, ProgressNotification } from '@modelcontextprotocol/sdk/types.js';
import type { AllowedFolders } from './allowed-folders.ts';

/** What the tools work with. */
export interface ToolContext {
  readonly folders: AllowedFolders;
  /** Marks the transfers that were begun for these folders, also by an earlier server: the agent sees no others. */
  readonly owner: string;
  /** The agent has disconnected; the transfers that it started continue. */
  left: boolean;
  /** Does `work` with the daemon, which is started if none runs. */
  withDaemon<T>(work: (daemon: LocalClient) => Promise<T>): Promise<T>;
}

/** What a tool is told beside its arguments. */
export interface ToolCall {
  /** Aborted when the agent has given the call up, or it has taken too long. */
  readonly signal: AbortSignal;
  /** The agent has given the call up. */
  isCancelled(): boolean;
  /** How long a transfer may still be waited for. */
  remainingMs(): number;
  /** Tells the agent how far a transfer is, if it has asked for that. */
  onProgress(transfer: TransferView): void;
}

/** The part of the protocol's own call that is used. */
interface ProtocolCall {
  readonly signal: AbortSignal;
  readonly _meta?: { progressToken?: string | number | undefined } | undefined;
  sendNotification(notification: ProgressNotification): Promise<void>;
}

/** MCP clients time a call out after 60 s by default. */
const MOST_WAIT_MS = 25_000;
const MOST_MS = 40_000;
const PROGRESS_EVERY_MS = 500;

/** A structured result, with the same as text. */
export type ToolResult = Record<string, unknown>;

function toolCallOf({ signal, _meta, sendNotification }: ProtocolCall): ToolCall {
  const started = performance.now();
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new KeibiError('PEER_UNREACHABLE', 'There was no answer in time. Try again.')),
    MOST_MS,
  ).unref();
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  const progressToken = _meta?.progressToken;
  let last = { at: Number.NEGATIVE_INFINITY, bytes: -1 };
  return {
    signal: AbortSignal.any([signal, late.signal]),
    isCancelled: () => signal.aborted,
    remainingMs: () => Math.max(0, MOST_WAIT_MS - (performance.now() - started)),
    onProgress({ bytes, totalBytes, totalsFinal, state }) {
      const at = performance.now();
      // The protocol wants numbers that rise.
      if (progressToken === undefined || bytes <= last.bytes || at - last.at < PROGRESS_EVERY_MS) return;
      last = { at, bytes };
      const total = totalsFinal ? { total: totalBytes } : {};
      const params = { progressToken, progress: bytes, ...total, message: state };
      sendNotification({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}

/** What a tool answers: what `act` resolves with, or its error with the stable code. */
export async function answer(
  call: ProtocolCall,
  act: (call: ToolCall) => Promise<ToolResult>,
): Promise<CallToolResult> {
  try {
    const result = await act(toolCallOf(call));
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
  } catch (reason) {
    const { code, message } = KeibiError.from(reason, 'INTERNAL');
    return { content: [{ type: 'text', text: JSON.stringify({ code, message }) }], isError: true };
  }
}
