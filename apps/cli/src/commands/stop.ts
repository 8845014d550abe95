// SPDX-License-Identifier: MPL-2.0
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { formatCount } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop stop`, parsed. */
export interface StopCommand {
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop stop

Unfinished transfers and shares resume when the daemon starts again.

Environment: KD_CONFIG_DIR
Exit codes: 0 no daemon runs now, 1 failed, 2 usage.
`;

export const command: CliCommand<StopCommand> = { name: 'stop', declare, run };

function declare(command: Command, onRun: OnRun<StopCommand>): void {
  command
    .summary('end the daemon')
    .description('End the daemon.')
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((options: StopCommand) => onRun(options));
}

/** Stops the daemon. Without a running daemon there is nothing to do, which is no error. */
async function run({ config, json }: StopCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const unfinished = await peer.stopDaemon({ env: io.env, cwd: io.cwd, config, signal: io.signal });
  if (json) io.stdout.write(lineOf('stopped', { ran: unfinished !== undefined, unfinished: unfinished ?? 0 }));
  else if (unfinished === undefined) io.stdout.write('No daemon is running.\n');
  else {
    const rest = unfinished > 0 ? ` ${formatCount(unfinished, 'transfer')} will resume when it starts again.` : '';
    io.stdout.write(`Stopped.${rest}\n`);
  }
  return 0;
}
