// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop mcp`, parsed. */
export interface McpCommand {
  folders: string[];
  config?: string;
}

const AFTER_HELP = `
Examples:
  keibidrop mcp ~/Shared
  keibidrop mcp ~/Projects/report ~/Downloads

In an agent's configuration:
  {"mcpServers": {"keibidrop": {"command": "keibidrop",
    "args": ["mcp", "/home/me/Shared"]}}}

The agent can send from these folders, receive into them, list and pull from
folders shared with you, and follow its transfers: docs/AGENTS.md. It sees no
other transfers and no other files. When it disconnects, its transfers continue
in the daemon.

Environment: KD_CONFIG_DIR
Exit codes: 0 the agent has disconnected, 2 usage, 130 Ctrl-C.
`;

export const command: CliCommand<McpCommand> = { name: 'mcp', declare, run };

function declare(command: Command, onRun: OnRun<McpCommand>): void {
  command
    .summary('let an agent send and receive within folders that you name')
    .description('Serve an agent over standard input and output (Model Context Protocol).')
    .argument('<folder...>', 'folders that the agent may send from and receive into')
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addHelpText('after', AFTER_HELP)
    .action((folders: string[], options: Omit<McpCommand, 'folders'>) => onRun({ ...options, folders }));
}

/** The same id for the same folders, so that a restarted server finds the transfers of the one before. */
function ownerOf(folders: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify([...folders].sort()));
  return `mcp-${digest.digest('hex').slice(0, 32)}`;
}

/** Serves until the agent closes standard input; resolves with 0. @throws USAGE; `io.signal.reason` */
async function run({ folders, config }: McpCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const [{ AllowedFolders }, { serveMcp }] = await Promise.all([
    import('../mcp/allowed-folders.ts'),
    import('../mcp/mcp-server.ts'),
  ]);
  const allowed = await AllowedFolders.of(folders.map((folder) => resolve(io.cwd, folder)));
  const context = {
    folders: allowed,
    owner: ownerOf(allowed.paths),
    left: false,
    withDaemon: <T>(work: Parameters<typeof withDaemon<T>>[3]) => withDaemon(io, peer, { config, start: true }, work),
  };
  await serveMcp(context, { ...io.pipes, signal: io.signal });
  io.signal.throwIfAborted();
  return 0;
}
