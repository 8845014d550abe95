// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { daemonReach } from '../daemon/background.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { codeLines } from '../display/code-lines.ts';
import { lineOf } from '../display/json-lines.ts';
import { CAN_CHANGE } from '../display/share-view.ts';
import { addShareOptions, type ShareFlags, shareFlagsOf, type TypedShareFlags } from '../options/share-options.ts';
import { fitted, type Io, paint } from '../terminal/io.ts';
import { quoted } from '../terminal/terminal-text.ts';

/** `keibidrop add`, parsed. */
export interface AddCommand extends ShareFlags {
  /** Undefined with `remove`. */
  dir?: string;
  remove?: string;
}

const AFTER_HELP = `
Examples:
  keibidrop add photos            print a code; others connect with it
  keibidrop add photos --to Bob   and invite Bob, who connects to you by name
  keibidrop list                  the shares, and how many guests are connected
  keibidrop add --remove photos   stop sharing it; deletes no files

Like keibidrop share, but the daemon shares, and is started if none runs. The
share stays when the terminal closes, and returns with the same code when the
daemon restarts.

Environment: KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage, 4 not reachable.
`;

export const command: CliCommand<AddCommand> = { name: 'add', declare, run };

function declare(command: Command, onRun: OnRun<AddCommand>): void {
  command
    .summary('share a folder or a file through the daemon')
    .description('Let the daemon share a folder or a file with anyone who has the code.')
    .argument('[path]', 'the folder or file')
    .addOption(new Option('--remove <share>', 'stop sharing it'));
  addShareOptions(command)
    .addHelpText('after', AFTER_HELP)
    .action((dir: string | undefined, typed: TypedAdd) => onRun(parseAdd(dir, typed)));
}

type TypedAdd = TypedShareFlags & Pick<AddCommand, 'remove'>;

/** @throws USAGE, CODE_MALFORMED */
function parseAdd(dir: string | undefined, typed: TypedAdd): AddCommand {
  if ((dir === undefined) === (typed.remove === undefined)) {
    throw new KeibiError('USAGE', 'Say what to share, for example: keibidrop add photos');
  }
  return { ...shareFlagsOf(typed), ...(dir !== undefined && { dir }) };
}

/** @throws SHARE_UNKNOWN; what keeps it from being shared; DAEMON_* */
async function run(options: AddCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, rendezvous, discovery, limit, listen, codeLength, dir, remove, json, quiet } = options;
  const flags = { config, rendezvous, discovery, limit, listen, codeLength };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  return withDaemon(io, peer, { config, start: dir !== undefined }, async (daemon) => {
    if (dir === undefined) {
      const { share } = await daemon.call('endShare', { share: remove ?? '' }, io);
      if (json) io.stdout.write(lineOf('removed', { name: share?.name }));
      else if (!quiet) io.stdout.write(`${quoted(remove ?? '')} is no longer shared.\n`);
      return 0;
    }
    const { share } = await daemon.call(
      'addShare',
      {
        path: resolve(io.cwd, dir),
        readOnly: options.readOnly,
        code: options.code?.text,
        wordCount: settings.codeLength,
        insecureCode: options.insecureCode === true,
        listen,
        to: options.to ?? [],
        reach: daemonReach(options, settings),
      },
      io,
    );
    if (share === undefined) throw new KeibiError('DAEMON_INCOMPATIBLE');
    if (json) io.stdout.write(lineOf('share', share));
    else {
      io.stdout.write(codeLines(share.code ?? '', 'connect', io, quiet));
      if (!share.readOnly && !quiet) io.stderr.write(`${paint(io.stderr, 'dim', fitted(io.stderr, CAN_CHANGE))}\n`);
    }
    return 0;
  });
}
