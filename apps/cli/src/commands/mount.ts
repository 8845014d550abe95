// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { MountView } from '@keibidrop/daemon';
import { KeibiError, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { daemonReach } from '../daemon/background.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { lineOf } from '../display/json-lines.ts';
import { addEverywhereOptions, type Everywhere } from '../options/everywhere.ts';
import { givenCode } from '../options/given-code.ts';
import { parseSize } from '../options/size-option.ts';
import { limited } from '../options/time-limit.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';

/** `keibidrop mount`, parsed. */
export interface MountCommand extends Everywhere {
  /** A code, in its plain form, the name of a share or contact, or `-`; with `dir`. Neither: list the mounts. */
  target?: string;
  dir?: string;
  readOnly?: boolean;
  cacheSize?: string;
  keepCache?: boolean;
  connect?: string;
  timeout?: string;
}

const AFTER_HELP = `
Examples:
  keibidrop mount 7-guitar-pencil photos     mount a share as the folder photos
  keibidrop mount - photos < code            the same, with the code kept hidden
  keibidrop mount Anna ~/anna                mount what Anna shares with you
  keibidrop mount Anna ~/anna --keep-cache   keep the cache for the next mount
  keibidrop mount                            list the mounts
  keibidrop unmount photos

The mount point must be an empty folder; a missing one is created. Files are
fetched when a program reads them, and changes on the other side appear within a
second. Written files are uploaded soon after they are closed, and fsync returns
once they are on the other side's disk. A file that both sides changed is kept
twice.

The daemon holds the mount, and is started if none runs. While the other side is
offline, cached files stay readable and writes wait; other calls fail after 30
seconds.

Needs Linux with libfuse3, or the slower npm package fuse-native: keibidrop
doctor shows which is available. Set KD_MOUNT_BACKEND for the daemon to choose
one. For root, since Linux 6.9, the kernel reads complete files of a --read-only
mount by itself, several times as fast.

Environment: KD_RENDEZVOUS KD_DISCOVERY KD_PATIENCE KD_CONFIG_DIR
  KD_MOUNT_BACKEND
Exit codes: 0 mounted, 1 failed, 2 usage, or the code belongs to a transfer,
3 wrong code, 4 not reachable, 6 mount not available.
`;

export const command: CliCommand<MountCommand> = { name: 'mount', declare, run };

function declare(command: Command, onRun: OnRun<MountCommand>): void {
  command
    .summary('mount a shared folder on this computer')
    .description('Mount a folder that is shared with a code, or that a contact shares with you.')
    .usage('[options] CODE|CONTACT|SHARE DIR')
    .argument(
      '[target...]',
      'a code such as 7-guitar-pencil, - to read it from standard input, a contact, or a share from keibidrop list; then the folder',
    )
    .addOption(new Option('--read-only', 'mount it read-only'))
    .addOption(
      new Option('--cache-size <size>', 'size limit of the cache, such as 500M (a quarter of the free disk space)'),
    )
    .addOption(new Option('--keep-cache', "keep the cache of a contact's share for the next mount, until a reboot"))
    .addOption(new Option('--connect <host:port>', "the sharer's address").conflicts('relayOnly'))
    .addOption(new Option('--timeout <time>', 'give up after this, such as 30s or 10m'));
  addEverywhereOptions(command)
    .addHelpText('after', AFTER_HELP)
    .action((words: string[], typed: MountCommand) => onRun(parseMount(words, typed)));
}

/** @throws USAGE, CODE_MALFORMED */
function parseMount(words: string[], typed: MountCommand): MountCommand {
  const [dir, ...rest] = words.toReversed();
  if (dir === undefined) return typed;
  const text = rest.toReversed().join(' ');
  if (text === '') throw new KeibiError('USAGE', 'Say what to mount and where: keibidrop mount 7-guitar-pencil photos');
  return { ...typed, dir, target: /^\d/.test(text) ? parseCode(text).text : text };
}

/** @throws NOT_A_SHARE, SHARE_UNKNOWN, MOUNT_*; errors of meeting a peer; DAEMON_* */
async function run(options: MountCommand, caller: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, rendezvous, discovery, limit, connect, dir, json, quiet } = options;
  const target = options.target === '-' ? (await givenCode(true, caller)).text : options.target;
  const io = limited(caller, options.timeout, 'Check that the other side still shares, and try again.');
  const flags = { config, rendezvous, discovery, limit, connect };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  return withDaemon(io, peer, { config, start: target !== undefined }, async (daemon) => {
    if (target === undefined || dir === undefined) {
      const { mounts } = await daemon.call('mounts', {}, io);
      if (json) io.stdout.write(lineOf('mounts', { mounts }));
      else if (mounts.length === 0)
        io.stdout.write('Nothing is mounted. Mount a share with keibidrop mount CODE DIR\n');
      else for (const one of mounts) io.stdout.write(`${lineOfMount(one)}\n`);
      return 0;
    }
    const request = {
      target,
      folder: resolve(io.cwd, dir),
      connect,
      reach: daemonReach(options, settings),
      readOnly: options.readOnly ?? false,
      keepCache: options.keepCache ?? false,
      cacheBytes: options.cacheSize === undefined ? undefined : parseSize('--cache-size', options.cacheSize),
    };
    const { mount } = await daemon.call('mount', request, io);
    if (mount === undefined) throw new KeibiError('DAEMON_INCOMPATIBLE');
    if (json) io.stdout.write(lineOf('mount', mount));
    else if (!quiet)
      io.stdout.write(
        `Mounted ${harmless(mount.share)} of ${harmless(mount.peer ?? '')} at ${harmless(mount.folder)}${mount.readOnly ? ', read-only' : ''}.\n`,
      );
    return 0;
  });
}

/** `/home/me/photos  open  photos of anna`. */
function lineOfMount({ folder, state, share, peer = '', readOnly, backend = 'native', reason }: MountView): string {
  const how = `${readOnly ? ', read-only' : ''}${backend === 'native' ? '' : `, by ${backend}`}`;
  const why = reason === undefined ? '' : `: ${harmless(reason)}`;
  const about = `${harmless(share)} of ${harmless(peer)}${how}${why}`;
  return `${harmless(folder).padEnd(30)} ${state.padEnd(8)} ${about}`;
}
