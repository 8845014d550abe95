// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { invitationsOf } from '../daemon/pending-invitations.ts';
import { answer, type ToolCall, type ToolContext, type ToolResult } from './tool-context.ts';
import { ownTransfers, resultOf } from './transfer-tools.ts';

const BEGIN_MS = 10_000;

const invitationsInput = {
  accept: z.number().int().positive().optional().describe('The number of the invitation to accept.'),
  decline: z.number().int().positive().optional().describe('The number of the invitation to decline.'),
  folder: z.string().optional().describe('Destination of an accepted invitation. The first allowed folder if omitted.'),
};

/** `contacts` and `invitations`. */
export function addPeopleTools(server: McpServer, context: ToolContext): void {
  server.registerTool(
    'contacts',
    {
      title: 'List contacts',
      description: 'Lists contacts, to whom files can be sent by name, and whether each is online.',
      inputSchema: {},
      annotations: { readOnlyHint: true },
    },
    (_args, call) => answer(call, (own) => contacts(context, own)),
  );
  server.registerTool(
    'invitations',
    {
      title: 'List or answer invitations',
      description:
        'Lists invitations from contacts, or accepts or declines one. An accepted one becomes a transfer or a share.',
      inputSchema: invitationsInput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (args, call) => answer(call, (own) => invitations(context, args, own)),
  );
}

async function contacts(context: ToolContext, { signal }: ToolCall): Promise<ToolResult> {
  const { contacts: all } = await context.withDaemon((daemon) => daemon.call('contacts', {}, { signal }));
  return { contacts: all.map(({ name, online, verified, blocked }) => ({ name, online, verified, blocked })) };
}

async function invitations(
  context: ToolContext,
  { accept, decline, folder }: z.infer<z.ZodObject<typeof invitationsInput>>,
  call: ToolCall,
): Promise<ToolResult> {
  if (accept !== undefined && decline !== undefined) {
    throw new KeibiError('USAGE', 'Accept an invitation or decline one, not both.');
  }
  const { signal } = call;
  const destination = await context.folders.destination(folder);
  return context.withDaemon(async (daemon) => {
    const all = await invitationsOf(daemon, signal);
    const number = accept ?? decline;
    if (number === undefined) return { invitations: all };
    const meant = all.find((each) => each.number === number);
    if (meant === undefined) throw new KeibiError('QUESTION_GONE');
    if (decline !== undefined) {
      await daemon.call('answer', { question: number, answer: 'no' }, { signal });
      return { declined: meant };
    }
    const before = new Set((await ownTransfers(context, daemon, signal)).map(({ id }) => id));
    const given = { question: number, answer: 'yes', ...destination, owner: context.owner };
    await daemon.call('answer', given, { signal });
    if (meant.to === 'share') return { accepted: meant };
    const isIts = ({ id, owner, contact }: TransferView) =>
      owner === context.owner && contact === meant.contact && !before.has(id);
    return { accepted: meant, ...resultOf(await firstTransfer(daemon, isIts, signal)) };
  });
}

/** @throws DAEMON_LOST, `signal.reason`; PEER_UNREACHABLE if no transfer starts in time */
async function firstTransfer(
  daemon: LocalClient,
  isIts: (transfer: TransferView) => boolean,
  signal: AbortSignal,
): Promise<TransferView> {
  const timeout = AbortSignal.timeout(BEGIN_MS);
  const watched = daemon.stream('watch', { progress: false }, { signal: AbortSignal.any([signal, timeout]) });
  try {
    for await (const { happened } of watched) {
      if (happened?.$case === 'changed' && isIts(happened.value)) return happened.value;
    }
  } catch (reason) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw reason;
    throw new KeibiError('PEER_UNREACHABLE', 'The contact has withdrawn its invitation. Ask for another one.');
  }
  throw new KeibiError('DAEMON_LOST');
}
