// SPDX-License-Identifier: MPL-2.0
import type { ShareEntryView } from '@keibidrop/daemon';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { hasEnded, waitFor } from './outcome-of.ts';
import { answer, type ToolCall, type ToolContext, type ToolResult } from './tool-context.ts';
import { DEFAULT_WAIT_S, idOf, resultOf, waitInput } from './transfer-tools.ts';

/** Entries per answer: more names would fill an agent's context. */
const MOST_ENTRIES = 1000;

const listInput = {
  path: z.string().optional().describe('A share, or a folder in it: SHARE or SHARE/PATH. Lists the shares if omitted.'),
};

const pullInput = {
  paths: z
    .array(z.string().min(1))
    .min(1)
    .max(1000)
    .describe('Files and folders of one share: SHARE/PATH, or SHARE for all of it.'),
  folder: z.string().optional().describe('Destination; created if missing. The first allowed folder if omitted.'),
  waitSeconds: waitInput,
};

/** `list` and `pull`, for shares that the user is connected to. */
export function addShareTools(server: McpServer, context: ToolContext): void {
  server.registerTool(
    'list',
    {
      title: 'List shares, or the entries of one',
      description: 'Lists the shares that the user is connected to, or the entries of one.',
      inputSchema: listInput,
      annotations: { readOnlyHint: true },
    },
    (args, call) => answer(call, (own) => list(context, args, own)),
  );
  server.registerTool(
    'pull',
    {
      title: 'Pull files from a share',
      description:
        'Receives files or folders from a share. Existing files are never replaced: new ones get another name.',
      inputSchema: pullInput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (args, call) => answer(call, (own) => pull(context, args, own)),
  );
}

async function list(
  context: ToolContext,
  { path }: z.infer<z.ZodObject<typeof listInput>>,
  { signal }: ToolCall,
): Promise<ToolResult> {
  return context.withDaemon(async (daemon) => {
    if (path === undefined) {
      const { shares } = await daemon.call('shares', {}, { signal });
      // The user's own shares have codes, which the agent must not learn.
      const connected = shares.filter(({ kind }) => kind === 'guest');
      return { shares: connected.map(({ name, state, peer, readOnly }) => ({ name, state, peer, readOnly })) };
    }
    const entries: ShareEntryView[] = [];
    for await (const part of daemon.stream('listShare', { path }, { signal })) {
      entries.push(...part.entries);
      if (entries.length > MOST_ENTRIES) break;
    }
    const shown = entries.slice(0, MOST_ENTRIES).map(({ type, name, size, modified }) => {
      return { type, name, size, modified: new Date(modified).toISOString() };
    });
    return { path, entries: shown, more: entries.length > MOST_ENTRIES };
  });
}

async function pull(
  context: ToolContext,
  { paths, folder, waitSeconds = DEFAULT_WAIT_S }: z.infer<z.ZodObject<typeof pullInput>>,
  call: ToolCall,
): Promise<ToolResult> {
  const destination = await context.folders.destination(folder);
  return context.withDaemon(async (daemon) => {
    const { transfer } = await daemon.call('pull', { paths, ...destination, owner: context.owner }, call);
    const wait = { until: hasEnded, timeoutMs: waitSeconds * 1000 };
    return resultOf(await waitFor(daemon, idOf(transfer), wait, context, call));
  });
}
