// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, SendRequest, TransferView } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { errorOf } from '../daemon/daemon-transfer.ts';
import { hasEnded, waitFor } from './outcome-of.ts';
import { answer, type ToolCall, type ToolContext, type ToolResult } from './tool-context.ts';

const CODE_TIMEOUT_MS = 10_000;
/** Even a cancelled call must learn the number of the transfer, to cancel it. */
const UNCANCELLED = { signal: new AbortController().signal };
const MOST_WAIT_S = 3600;
export const DEFAULT_WAIT_S = 20;

export const waitInput = z
  .number()
  .min(0)
  .max(MOST_WAIT_S)
  .optional()
  .describe('Seconds to wait for its end, 25 at most. After that the transfer continues, and `status` reports it.');

const sendInput = {
  paths: z
    .array(z.string().min(1))
    .max(1000)
    .optional()
    .describe('Files and folders; relative paths start at the first allowed folder.'),
  text: z.string().optional().describe('A text instead of files.'),
  to: z
    .array(z.string().min(1))
    .max(16)
    .optional()
    .describe('Names of contacts to invite. Without them a code is returned for the receiver.'),
  waitSeconds: waitInput,
};

const receiveInput = {
  code: z.string().min(1).describe('Such as 7-guitar-pencil.'),
  folder: z.string().optional().describe('Destination; created if missing. The first allowed folder if omitted.'),
  waitSeconds: waitInput,
};

const statusInput = {
  transfer: z.number().int().positive().optional().describe('Number of one transfer; all if omitted.'),
};

const cancelInput = { transfer: z.number().int().positive().describe('Number of the transfer.') };

/** `send`, `receive`, `status` and `cancel`. */
export function addTransferTools(server: McpServer, context: ToolContext): void {
  server.registerTool(
    'send',
    {
      title: 'Send files or a text',
      description:
        'Offers files, folders or a text to another computer. Returns a code, which the other person types, unless contacts are invited.',
      inputSchema: sendInput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (args, call) => answer(call, (own) => send(context, args, own)),
  );
  server.registerTool(
    'receive',
    {
      title: 'Receive files with a code',
      description:
        'Receives files or a text with a code. Answers within half a minute with the number of the transfer, finished or not. Existing files are never replaced: new ones get another name.',
      inputSchema: receiveInput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (args, call) => answer(call, (own) => receive(context, args, own)),
  );
  server.registerTool(
    'status',
    {
      title: 'Report transfers',
      description: 'Reports the transfers started here: state, counts, rate, error.',
      inputSchema: statusInput,
      annotations: { readOnlyHint: true },
    },
    (args, call) => answer(call, (own) => status(context, args, own)),
  );
  server.registerTool(
    'cancel',
    {
      title: 'Cancel a transfer',
      description: 'Cancels a transfer started here. Received files stay.',
      inputSchema: cancelInput,
      annotations: { destructiveHint: false, idempotentHint: true },
    },
    (args, call) => answer(call, (own) => cancel(context, args, own)),
  );
}

async function send(
  context: ToolContext,
  { paths = [], text, to = [], waitSeconds = 0 }: z.infer<z.ZodObject<typeof sendInput>>,
  call: ToolCall,
): Promise<ToolResult> {
  if (paths.length > 0 === (text !== undefined)) throw new KeibiError('USAGE', 'Give either paths or a text.');
  const request: Partial<SendRequest> = {
    paths: await Promise.all(paths.map((path) => context.folders.source(path))),
    beneath: [...context.folders.paths],
    text,
    to,
    owner: context.owner,
  };
  return context.withDaemon(async (daemon) => {
    const id = idOf((await daemon.call('send', request, UNCANCELLED)).transfer);
    const canReply = (view: TransferView) => view.code !== undefined || to.length > 0 || hasEnded(view);
    const first = await waitFor(daemon, id, { until: canReply, timeoutMs: CODE_TIMEOUT_MS }, context, call);
    if (waitSeconds === 0 || hasEnded(first)) return resultOf(first);
    return resultOf(await waitFor(daemon, id, { until: hasEnded, timeoutMs: waitSeconds * 1000 }, context, call));
  });
}

async function receive(
  context: ToolContext,
  { code, folder, waitSeconds = DEFAULT_WAIT_S }: z.infer<z.ZodObject<typeof receiveInput>>,
  call: ToolCall,
): Promise<ToolResult> {
  const destination = await context.folders.destination(folder);
  return context.withDaemon(async (daemon) => {
    const request = { code, ...destination, owner: context.owner, yes: true };
    const id = idOf((await daemon.call('receive', request, UNCANCELLED)).transfer);
    return resultOf(await waitFor(daemon, id, { until: hasEnded, timeoutMs: waitSeconds * 1000 }, context, call));
  });
}

async function status(
  context: ToolContext,
  { transfer }: z.infer<z.ZodObject<typeof statusInput>>,
  { signal }: ToolCall,
): Promise<ToolResult> {
  const own = await context.withDaemon((daemon) => ownTransfers(context, daemon, signal));
  const asked = own.filter(({ id }) => transfer === undefined || id === transfer);
  if (transfer !== undefined && asked.length === 0) throw new KeibiError('TRANSFER_UNKNOWN');
  return { transfers: asked.map(viewOf), folders: context.folders.paths };
}

async function cancel(
  context: ToolContext,
  { transfer: id }: z.infer<z.ZodObject<typeof cancelInput>>,
  { signal }: ToolCall,
): Promise<ToolResult> {
  return context.withDaemon(async (daemon) => {
    if (!(await ownTransfers(context, daemon, signal)).some((own) => own.id === id)) {
      throw new KeibiError('TRANSFER_UNKNOWN');
    }
    const { transfer } = await daemon.call('control', { transfer: id, action: 'cancel' }, { signal });
    idOf(transfer);
    return viewOf(transfer as TransferView);
  });
}

/** The transfers started for these folders. */
export async function ownTransfers(
  { owner }: ToolContext,
  daemon: LocalClient,
  signal: AbortSignal,
): Promise<TransferView[]> {
  const { transfers } = await daemon.call('transfers', {}, { signal });
  return transfers.filter((transfer) => transfer.owner === owner);
}

export function idOf(transfer: TransferView | undefined): number {
  if (transfer === undefined) throw new KeibiError('DAEMON_INCOMPATIBLE');
  return transfer.id;
}

/** @throws the error of a failed transfer */
export function resultOf(transfer: TransferView): ToolResult {
  if (transfer.error !== undefined) throw errorOf(transfer.error);
  return viewOf(transfer);
}

function viewOf(view: TransferView): ToolResult {
  const { id, kind, state, what, code, peer, contact, place, path, files, bytes, totalFiles, totalBytes, text, error } =
    view;
  const found = { code, peer: contact ?? peer, place, path, text, error };
  const present = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return { transfer: id, kind, state, what, files, bytes, totalFiles, totalBytes, ...present };
}
