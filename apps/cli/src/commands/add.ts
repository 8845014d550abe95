// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import { daemonReach } from '../background.ts';
import { withDaemon } from '../daemon-connection.ts';
import { type Io, paint } from '../io.ts';
import { lineOf } from '../json-lines.ts';
import type { PeerPackage } from '../peer-package.ts';
import { quoted } from '../terminal-text.ts';
import { addEverywhereOptions, type Everywhere } from './everywhere.ts';

/** `keibidrop add`, parsed. */
export interface AddCommand extends Everywhere {
  /** Undefined with `remove`. */
  dir?: string;
  remove?: string;
  readOnly: boolean;
  code?: Code;
  codeLength?: string;
  insecureCode?: boolean;
  listen?: string;
  /** Contacts. */
  to?: string[];
}

const AFTER_HELP = `
Examples:
  keibidrop add photos            print a code; others connect to it
  keibidrop add photos --to Bob   and invite Bob, who connects to you by name
  keibidrop list                  what is shared, and how many are connected
  keibidrop add --remove photos   share it no more; nothing is deleted

The same as keibidrop share, but done by the daemon, which is started if need
be: it goes on when the terminal is closed, and comes back with the same code
when the daemon does.

Environment: KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage, 4 not reachable.
`;

export function addAddCommand(program: Command, onRun: (options: AddCommand) => Promise<void>): void {
  const command = program
    .command('add')
    .summary('have the daemon share a folder or a file')
    .description('Have the daemon show a folder, or a file, to everybody who has the code.')
    .argument('[path]', 'the folder or file')
    .addOption(new Option('--remove <share>', 'share it no more'))
    .addOption(
      new Option('--to <name>', 'invite this contact, too; may be given again').argParser(
        (name: string, others: string[] = []) => [...others, name],
      ),
    )
    .addOption(new Option('--read-only', 'tell guests that they may not write, once that is possible'))
    .addOption(new Option('--code <code>', 'use this code instead of a new one'))
    .addOption(new Option('--code-length <words>', 'words of a new code, 2 to 16 (2)').conflicts('code'))
    .addOption(new Option('--insecure-code', 'take --code even if it is easy to guess'))
    .addOption(new Option('--listen <host:port>', 'listen here (port 26431, or any free one if taken)'));
  addEverywhereOptions(command)
    .addHelpText('after', AFTER_HELP)
    .action((dir: string | undefined, typed: TypedAdd) => onRun(parseAdd(dir, typed)));
}

type TypedAdd = Omit<AddCommand, 'dir' | 'readOnly' | 'code'> & { readOnly?: boolean; code?: string };

/** @throws USAGE, CODE_MALFORMED */
function parseAdd(dir: string | undefined, { code, readOnly, ...rest }: TypedAdd): AddCommand {
  if ((dir === undefined) === (rest.remove === undefined)) {
    throw new KeibiError('USAGE', 'Say which folder to share, for example: keibidrop add photos');
  }
  return {
    ...rest,
    ...(code !== undefined && { code: parseCode(code) }),
    ...(dir !== undefined && { dir }),
    readOnly: readOnly === true,
  };
}

/** @throws SHARE_UNKNOWN; what keeps it from being shared; DAEMON_* */
export async function runAdd(options: AddCommand, io: Io, peer: PeerPackage): Promise<number> {
  const { config, rendezvous, discovery, limit, listen, codeLength, dir, remove, json, quiet } = options;
  const flags = { config, rendezvous, discovery, limit, listen, codeLength };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  return withDaemon(io, peer, { config, start: dir !== undefined }, async (daemon) => {
    if (dir === undefined) {
      const { share } = await daemon.call('endShare', { share: remove ?? '' }, io);
      if (json) io.stdout.write(lineOf('removed', { name: share?.name }));
      else if (!quiet) io.stdout.write(`${quoted(remove ?? '')} is shared no more.\n`);
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
      io.stdout.write(`Code: ${paint(io.stdout, 'bold', share.code ?? '')}\n`);
      if (!quiet)
        io.stdout.write(`On the other computer: ${paint(io.stdout, 'bold', `keibidrop connect ${share.code}`)}\n`);
    }
    return 0;
  });
}
