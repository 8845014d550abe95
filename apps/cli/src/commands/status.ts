// SPDX-License-Identifier: MPL-2.0
import { type Command, Option } from 'commander';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { formatCount, formatTime } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';
import { invitationsOf } from './invitations.ts';

/** `keibidrop status` and `keibidrop stop`, parsed. */
export interface StatusCommand {
  config?: string;
  json?: boolean;
}

const AFTER_STATUS = `
Examples:
  keibidrop status
  keibidrop status --json

Does not start a daemon.

Environment: KD_CONFIG_DIR
Exit codes: 0 a daemon runs, 1 failed, 2 usage, 4 none runs.
`;

const AFTER_STOP = `
Examples:
  keibidrop stop

Unfinished transfers and shares resume when the daemon starts again.

Environment: KD_CONFIG_DIR
Exit codes: 0 no daemon runs now, 1 failed, 2 usage.
`;

export function addStatusCommand(program: Command, onRun: (options: StatusCommand) => Promise<void>): void {
  add(program, 'status', 'show whether the daemon runs, and its activity', AFTER_STATUS, onRun);
}

export function addStopCommand(program: Command, onRun: (options: StatusCommand) => Promise<void>): void {
  add(program, 'stop', 'end the daemon', AFTER_STOP, onRun);
}

function add(
  program: Command,
  name: string,
  summary: string,
  after: string,
  onRun: (options: StatusCommand) => Promise<void>,
): void {
  program
    .command(name)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', after)
    .action((options: StatusCommand) => onRun(options));
}

/** @throws DAEMON_UNREACHABLE if none runs */
export async function runStatus({ config, json }: StatusCommand, io: Io, peer: PeerPackage): Promise<number> {
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

/** Stops the daemon. Without a running daemon there is nothing to do, which is no error. */
export async function runStop({ config, json }: StatusCommand, io: Io, peer: PeerPackage): Promise<number> {
  const unfinished = await peer.stopDaemon({ env: io.env, cwd: io.cwd, config, signal: io.signal });
  if (json) io.stdout.write(lineOf('stopped', { ran: unfinished !== undefined, unfinished: unfinished ?? 0 }));
  else if (unfinished === undefined) io.stdout.write('No daemon is running.\n');
  else {
    const rest = unfinished > 0 ? ` ${formatCount(unfinished, 'transfer')} will resume when it starts again.` : '';
    io.stdout.write(`Stopped.${rest}\n`);
  }
  return 0;
}
