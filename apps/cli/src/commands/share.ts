// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import type { ShareOptions } from '@keibidrop/share';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { createShareView } from '../display/share-view.ts';
import { reachOf } from '../options/everywhere.ts';
import { knownPassphrase } from '../options/passphrases.ts';
import { addShareOptions, type ShareFlags, shareFlagsOf, type TypedShareFlags } from '../options/share-options.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop share`, parsed. */
export interface ShareCommand extends ShareFlags {
  dir: string;
  passphraseFile?: string;
  incognito?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop share photos                print a code that opens photos to others
  keibidrop connect 7-guitar-pencil     on the other computer, then
  keibidrop list                        see its contents
  keibidrop pull holiday/beach.jpg      and download a file
  keibidrop share photos --to Anna      invite Anna, who connects to you by name

Any number of guests may connect while this runs; Ctrl-C ends it. They see the
current contents of the folder, get changes within a second, and download what
they like. Symlinks are shown but not followed: nothing outside the folder is
shown or sent. Guests that mount the folder can change it as far as you can,
unless --read-only is given. A guest that connected once can reconnect without
using the code, until the share ends or for 90 days.

Environment: KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_CONFIG_DIR KD_LOG
Exit codes: 0 stopped, 1 failed, 2 usage, 3 refused (three wrong
codes and no guest connected), 4 not reachable, 70 a bug of ours.
`;

export const command: CliCommand<ShareCommand> = { name: 'share', declare, run };

function declare(command: Command, onRun: OnRun<ShareCommand>): void {
  command
    .summary('share a folder or file while this command runs')
    .description('Share the current contents of a folder with anyone who has the code.')
    .argument('[path]', 'the folder, or one file')
    .addOption(new Option('--passphrase-file <file>', 'with --to: the passphrase of the identity, or - to be asked'))
    .addOption(new Option('--incognito', 'store nothing: no history'));
  addShareOptions(command)
    .addHelpText('after', AFTER_HELP)
    .action((dir: string | undefined, typed: TypedShare) => onRun(parseShare(dir, typed)));
}

type TypedShare = TypedShareFlags & Pick<ShareCommand, 'passphraseFile' | 'incognito'>;

/** @throws USAGE, CODE_MALFORMED */
function parseShare(dir: string | undefined, typed: TypedShare): ShareCommand {
  if (dir === undefined) throw new KeibiError('USAGE', 'Name a folder to share, for example: keibidrop share photos');
  return { ...shareFlagsOf(typed), dir };
}

/**
 * Shares until stopped, then resolves with 0.
 *
 * @throws KeibiError that ended the share
 */
async function run(options: ShareCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, rendezvous, discovery, limit, listen, codeLength } = options;
  const flags = { config, rendezvous, discovery, limit, listen, codeLength };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  const view = createShareView(io, peer, options);
  const dir = resolve(io.cwd, options.dir);
  const history = new peer.History(peer.stateDirOf(settings.configDir), async () => settings.history);
  const kept: Promise<void>[] = [];
  const warn = (reason: unknown) =>
    view.onEvent({ type: 'warning', message: KeibiError.from(reason, 'INTERNAL').message });
  const record = options.incognito
    ? () => {}
    : peer.pullHistory(dir, (pulled) => kept.push(history.add(pulled).catch(warn)));
  try {
    const sharing: ShareOptions = {
      ...reachOf(options, settings),
      dir,
      readOnly: options.readOnly,
      journals: peer.journalsOf(peer.stateDirOf(settings.configDir)),
      guests: options.incognito ? undefined : peer.knownIn(settings.configDir).guests,
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
      await peer.shareWithContacts({ ...sharing, names, directory: settings.configDir, askPassphrase });
    }
    return 0;
  } finally {
    view.end();
    await Promise.all(kept);
  }
}
