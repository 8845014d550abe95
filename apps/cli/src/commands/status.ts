// SPDX-License-Identifier: MPL-2.0
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { invitationsOf } from '../daemon/pending-invitations.ts';
import { formatTime } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';

/** `keibidrop status`, parsed. */
export interface StatusCommand {
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop status
  keibidrop status --json

Does not start a daemon.

Environment: KD_CONFIG_DIR
Exit codes: 0 a daemon runs, 1 failed, 2 usage, 4 none runs.
`;

export const command: CliCommand<StatusCommand> = { name: 'status', declare, run };

function declare(command: Command, onRun: OnRun<StatusCommand>): void {
  command
    .summary('show whether the daemon runs, and its activity')
    .description('Show whether the daemon runs, and its activity.')
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((options: StatusCommand) => onRun(options));
}

/** @throws DAEMON_UNREACHABLE if none runs */
async function run({ config, json }: StatusCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    const [status, { mounts }, invitations] = await Promise.all([
      daemon.call('status', {}, { signal: io.signal }),
      daemon.call('mounts', {}, { signal: io.signal }),
      invitationsOf(daemon, io.signal),
    ]);
    if (json) {
      io.stdout.write(
        lineOf('status', {
          ...status,
          mounts,
          invitations: invitations.length,
          started: new Date(status.started).toISOString(),
        }),
      );
      return 0;
    }
    const { pid, version, started, running, queued, label, savePath, rendezvous, page, identityReason } = status;
    const rows: [string, string][] = [
      ['Daemon', `process ${pid}, version ${version}, since ${formatTime(new Date(started))}`],
      ...(identityReason === undefined ? [] : ([['Identity', identityReason]] as [string, string][])),
      ['Transfers', `${running} running, ${queued} queued`],
      ...(invitations.length === 0
        ? []
        : ([['Invitations', `${invitations.length}, see keibidrop invitations`]] as [string, string][])),
      ...mounts.map(({ folder, state }, i): [string, string] => [i === 0 ? 'Mounts' : '', `${folder}, ${state}`]),
      ['Calls itself', label],
      ['Saves to', savePath],
      ['Meets at', rendezvous ?? 'this machine and its networks'],
      ...(page === undefined ? [] : ([['Page', `open at ${page}`]] as [string, string][])),
    ];
    for (const [name, text] of rows) io.stdout.write(`${name.padEnd(12)} ${harmless(text)}\n`);
    return 0;
  });
}
