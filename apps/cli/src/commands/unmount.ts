// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { formatCount } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';

/** `keibidrop unmount`, parsed. */
export interface UnmountCommand {
  dir: string;
  force?: boolean;
  config?: string;
  json?: boolean;
  quiet?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop unmount photos
  keibidrop unmount photos --force      even while a program uses it; puts
                                        changes that cannot be sent in a
                                        folder beside it

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage, 4 no daemon runs,
6 in use or not mounted.
`;

export const command: CliCommand<UnmountCommand> = { name: 'unmount', declare, run };

function declare(command: Command, onRun: OnRun<UnmountCommand>): void {
  command
    .summary('unmount a folder')
    .description('Unmount a folder.')
    .argument('[dir]', 'the folder')
    .addOption(new Option('--force', 'even if a program uses it, or changes cannot be sent'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('-q, --quiet', 'print only errors'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((dir: string | undefined, typed: Omit<UnmountCommand, 'dir'>) => {
      if (dir === undefined) throw new KeibiError('USAGE', 'Name the folder, for example: keibidrop unmount photos');
      return onRun({ ...typed, dir });
    });
}

/** @throws MOUNT_BUSY, MOUNT_UNAVAILABLE, DAEMON_* */
async function run(
  { dir, force = false, config, json, quiet }: UnmountCommand,
  io: Io,
  loadPeer: LoadPeer,
): Promise<number> {
  const peer = await loadPeer();
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    const { mount, unsent, keptIn } = await daemon.call('unmount', { folder: resolve(io.cwd, dir), force }, io);
    if (json) io.stdout.write(lineOf('unmounted', { folder: mount?.folder, unsent, keptIn }));
    else if (!quiet) io.stdout.write(`Unmounted ${harmless(mount?.folder ?? dir)}.\n`);
    if (unsent > 0)
      io.stderr.write(
        `keibidrop: ${formatCount(unsent, 'changed file')} could not be sent: ${keptIn === undefined ? 'nothing could be kept' : `kept in ${harmless(keptIn)}`}.\n`,
      );
    return 0;
  });
}
