// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { ShareOptions } from '@keibidrop/peer';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { Io } from '../io.ts';
import { knownPassphrase } from '../passphrases.ts';
import type { PeerPackage } from '../peer-package.ts';
import { createShareView } from '../share-view.ts';
import { addEverywhereOptions, type Everywhere, reachOf } from './everywhere.ts';

/** `keibidrop share`, parsed. */
export interface ShareCommand extends Everywhere {
  dir: string;
  readOnly: boolean;
  code?: Code;
  codeLength?: string;
  insecureCode?: boolean;
  listen?: string;
  /** Contacts. */
  to?: string[];
  passphraseFile?: string;
}

const AFTER_HELP = `
Examples:
  keibidrop share photos                print a code, show photos to who has it
  keibidrop connect 7-guitar-pencil     on the other computer, then
  keibidrop list                        see what there is
  keibidrop pull holiday/beach.jpg      and take some of it
  keibidrop share photos --to Anna      invite Anna, who connects to you by name

Any number of people may connect, as long as this runs; Ctrl-C ends it. They see
what is in the folder at that moment, hear of changes within a second, and take
what they like. Symlinks are shown and not followed: nothing outside the folder
is shown or sent. Nobody can write into it: guests can only read, with or
without --read-only, which is already what they are told.

Environment: KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_CONFIG_DIR KD_LOG
Exit codes: 0 ended when told to, 1 failed, 2 usage, 3 refused (three wrong
codes and nobody connected), 4 not reachable, 70 a bug of ours.
`;

export function addShareCommand(program: Command, onRun: (options: ShareCommand) => Promise<void>): void {
  const command = program
    .command('share')
    .summary('show a folder or file to others, who take what they like')
    .description('Show a folder, as it is at any moment, to everybody who has the code.')
    .argument('[dir]', 'the folder, or one file')
    .addOption(
      new Option('--to <name>', 'invite this contact, too; may be given again').argParser(
        (name: string, others: string[] = []) => [...others, name],
      ),
    )
    .addOption(new Option('--passphrase-file <file>', 'with --to: the passphrase of the identity, or - to be asked'))
    .addOption(new Option('--read-only', 'tell guests that they may not write, once that is possible'))
    .addOption(new Option('--code <code>', 'use this code instead of a new one'))
    .addOption(new Option('--code-length <words>', 'words of a new code, 2 to 16 (2)').conflicts('code'))
    .addOption(new Option('--insecure-code', 'take --code even if it is easy to guess'))
    .addOption(new Option('--listen <host:port>', 'listen here (port 26431, or any free one if taken)'));
  addEverywhereOptions(command)
    .addHelpText('after', AFTER_HELP)
    .action((dir: string | undefined, typed: TypedShare) => onRun(parseShare(dir, typed)));
}

/** The options as commander hands them over. */
type TypedShare = Omit<ShareCommand, 'dir' | 'readOnly' | 'code'> & { readOnly?: boolean; code?: string };

/** @throws USAGE, CODE_MALFORMED */
function parseShare(dir: string | undefined, { code, readOnly, ...rest }: TypedShare): ShareCommand {
  if (dir === undefined)
    throw new KeibiError('USAGE', 'Say which folder to share, for example: keibidrop share photos');
  return { ...rest, ...(code !== undefined && { code: parseCode(code) }), dir, readOnly: readOnly === true };
}

/**
 * Shares until it is told to end, and resolves with 0 then.
 *
 * @throws any KeibiError that ended it
 */
export async function runShare(options: ShareCommand, io: Io, peer: PeerPackage): Promise<number> {
  const { config, rendezvous, discovery, limit, listen, codeLength } = options;
  const flags = { config, rendezvous, discovery, limit, listen, codeLength };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  const view = createShareView(io, peer, options);
  const dir = resolve(io.cwd, options.dir);
  const history = new peer.History(peer.stateDirOf(settings.configDir), async () => settings.history);
  const kept: Promise<void>[] = [];
  const record = peer.pullHistory(dir, (pulled) => kept.push(history.add(pulled)));
  try {
    const sharing: ShareOptions = {
      ...reachOf(options, settings),
      dir,
      readOnly: options.readOnly,
      code: options.code,
      wordCount: settings.codeLength,
      insecureCode: options.insecureCode,
      listen: settings.listen,
      signal: io.signal,
      onEvent: (event) => {
        record(event);
        view.onEvent(event);
      },
    };
    const { to: names } = options;
    if (names === undefined) await peer.share(sharing);
    else {
      const askPassphrase = () => knownPassphrase(options.passphraseFile, io);
      await peer.shareVisiting({ ...sharing, names, directory: settings.configDir, askPassphrase });
    }
    return 0;
  } finally {
    view.end();
    await Promise.allSettled(kept);
  }
}
