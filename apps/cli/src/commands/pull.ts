// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { reportEnded, untilEnded } from '../daemon/daemon-transfer.ts';
import { lineOf } from '../display/json-lines.ts';
import { limited } from '../options/time-limit.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop pull`, parsed. */
export interface PullCommand {
  path: string;
  dir?: string;
  collisions: 'rename' | 'overwrite' | 'skip';
  verify?: boolean;
  durable?: boolean;
  background?: boolean;
  incognito?: boolean;
  timeout?: string;
  config?: string;
  json?: boolean;
  quiet?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop pull photos/holiday/beach.jpg      one file, into the current folder
  keibidrop pull photos/holiday ~/Pictures     a folder with its contents
  keibidrop pull photos                        everything
  keibidrop pull beach.jpg --json --timeout 1m

A file with the same size and time is skipped. If another file has its name, it
is saved as "name (1).ext", unless --overwrite or --skip is given. The daemon
receives: Ctrl-C and --timeout stop waiting, not the pull; see keibidrop
transfers.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed or no such entry, 2 usage, 3 refused, 4 no daemon
runs or not done in time, 5 interrupted but resumable, 130 Ctrl-C.
`;

export const command: CliCommand<PullCommand> = { name: 'pull', declare, run };

function declare(command: Command, onRun: OnRun<PullCommand>): void {
  command
    .summary('pull a file or folder from a share')
    .description('Pull a file or a folder from a share that you are connected to.')
    .argument('[share/path]', 'what to pull: SHARE/PATH, or SHARE for everything')
    .argument('[dir]', 'put it here (default: the current folder)')
    .addOption(new Option('--overwrite', 'replace files of the same name').conflicts('skip'))
    .addOption(new Option('--skip', 'keep files of the same name'))
    .addOption(new Option('--verify', 'read files back and compare them with the other side'))
    .addOption(new Option('--durable', 'finish only once the files would survive a power cut'))
    .addOption(new Option('--background', 'do not wait for the end'))
    .addOption(new Option('--incognito', 'store nothing except the received files'))
    .addOption(new Option('--timeout <time>', 'wait no longer than this, such as 30s or 10m'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addOption(new Option('-q, --quiet', 'print only errors'))
    .addHelpText('after', AFTER_HELP)
    .action((path: string | undefined, dir: string | undefined, typed: TypedPull) =>
      onRun(parsePull(path, dir, typed)),
    );
}

type TypedPull = Omit<PullCommand, 'path' | 'dir' | 'collisions'> & { overwrite?: boolean; skip?: boolean };

/** @throws USAGE */
function parsePull(path: string | undefined, dir: string | undefined, typed: TypedPull): PullCommand {
  if (path === undefined)
    throw new KeibiError('USAGE', 'Name a file or folder to pull, for example: keibidrop pull photos/beach.jpg');
  const { overwrite, skip, ...rest } = typed;
  const collisions = overwrite ? 'overwrite' : skip ? 'skip' : 'rename';
  return { ...rest, path, ...(dir !== undefined && { dir }), collisions };
}

/** @throws SHARE_*, DAEMON_*; HANDSHAKE_TIMEOUT after `--timeout` */
async function run(options: PullCommand, caller: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { path, dir = '.', collisions, verify = false, durable = false, incognito = false, config, json } = options;
  const io = limited(caller, options.timeout, 'If it has started, it continues: see keibidrop transfers.');
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    const request = { paths: [path], out: resolve(io.cwd, dir), collisions, verify, durable, incognito };
    const { transfer } = await daemon.call('pull', request, io);
    if (transfer === undefined) throw new KeibiError('DAEMON_INCOMPATIBLE');
    if (options.background) {
      if (json) io.stdout.write(lineOf('transfer', transfer));
      else if (!options.quiet) io.stdout.write(`Transfer ${transfer.id} has started. See keibidrop transfers.\n`);
      return 0;
    }
    const ended = await untilEnded(daemon, transfer.id, io, options);
    return reportEnded(ended, io, { ...options, event: 'pulled' });
  });
}
