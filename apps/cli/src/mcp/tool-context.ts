// SPDX-License-Identifier: MPL-2.0
import type { LocalClient } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { AllowedFolders } from './allowed-folders.ts';

/** What the tools work with. */
export interface ToolContext {
  readonly folders: AllowedFolders;
  /** Transfers that were begun here: what else the daemon does is nobody's business. */
  readonly begun: Set<number>;
  /** Does `work` with the daemon, which is started if none runs. */
  withDaemon<T>(work: (daemon: LocalClient) => Promise<T>): Promise<T>;
}

/** What a tool is told beside its arguments. */
export interface ToolCall {
  /** Aborted when the agent has given the call up. */
  readonly signal: AbortSignal;
}

/** A structured result, with the same as text. */
export type ToolResult = Record<string, unknown>;

/** What a tool answers: what `act` resolves with, or its error with the stable code. */
export async function answer(act: () => Promise<ToolResult>): Promise<CallToolResult> {
  try {
    const result = await act();
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
  } catch (reason) {
    const { code, message } = KeibiError.from(reason, 'INTERNAL');
    return { content: [{ type: 'text', text: JSON.stringify({ code, message }) }], isError: true };
  }
}
