// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import type { CallToolResult, ProgressNotification } from '@modelcontextprotocol/sdk/types.js';
import type { AllowedFolders } from './allowed-folders.ts';

/** State shared by all tools. */
export interface ToolContext {
  readonly folders: AllowedFolders;
  /** Marks transfers started for these folders, also by an earlier server. The agent sees no others. */
  readonly owner: string;
  /** The agent has disconnected; its transfers continue. */
  left: boolean;
  /** Runs `work` with the daemon; starts one if none runs. */
  withDaemon<T>(work: (daemon: LocalClient) => Promise<T>): Promise<T>;
}

/** Context of one tool call besides its arguments. */
export interface ToolCall {
  /** Aborted when the agent cancels the call or the call takes too long. */
  readonly signal: AbortSignal;
  /** Whether the agent has cancelled the call. */
  isCancelled(): boolean;
  /** How long the call may still wait for a transfer. */
  remainingMs(): number;
  /** Reports progress to the agent, if it asked for progress. */
  onProgress(transfer: TransferView): void;
}

/** The fields used of the protocol's call. */
interface ProtocolCall {
  readonly signal: AbortSignal;
  readonly _meta?: { progressToken?: string | number | undefined } | undefined;
  sendNotification(notification: ProgressNotification): Promise<void>;
}

/** MCP clients time a call out after 60 s by default. */
const MOST_WAIT_MS = 25_000;
const MOST_MS = 40_000;
const PROGRESS_EVERY_MS = 500;

/** A structured result; it is also sent as text. */
export type ToolResult = Record<string, unknown>;

function toolCallOf({ signal, _meta, sendNotification }: ProtocolCall): ToolCall {
  const started = performance.now();
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new KeibiError('PEER_UNREACHABLE', 'The daemon or peer did not answer in time. Try again.')),
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
      // The protocol requires increasing numbers.
      if (progressToken === undefined || bytes <= last.bytes || at - last.at < PROGRESS_EVERY_MS) return;
      last = { at, bytes };
      const total = totalsFinal ? { total: totalBytes } : {};
      const params = { progressToken, progress: bytes, ...total, message: state };
      sendNotification({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}

/** The result of a tool: the value of `act`, or its error with the stable code. */
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
