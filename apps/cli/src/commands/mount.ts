// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { MountView } from '@keibidrop/peer';
import { KeibiError, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import { daemonReach } from '../daemon/background.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { formatCount } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { addEverywhereOptions, type Everywhere } from '../options/everywhere.ts';
import { givenCode } from '../options/given-code.ts';
import { parseSize } from '../options/size-option.ts';
import { limited } from '../options/time-limit.ts';
import type { PeerPackage } from '../peer-package.ts';
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

/** `keibidrop unmount`, parsed. */
export interface UnmountCommand {
  dir: string;
  force?: boolean;
  config?: string;
  json?: boolean;
  quiet?: boolean;
}

const AFTER_MOUNT = `
Examples:
  keibidrop mount 7-guitar-pencil photos     what somebody shares, as the folder photos
  keibidrop mount - photos < code            the same; no other user can read the code
  keibidrop mount Anna ~/anna                what the contact Anna shares with you
  keibidrop mount Anna ~/anna --keep-cache   the next time what was read is there
  keibidrop mount                            what is mounted
  keibidrop unmount photos

Files are fetched when they are read, and what changes on the other side shows
within a second. The folder has to be empty, or is made. What is written in it is
sent soon after a file is closed, and stands on the disk there when fsync has
returned; a file that was changed on both sides is kept twice. The daemon, which
is started if need be, keeps the folder, also over a lost network: what was read
stays readable, what is written waits, the rest fails after 30 seconds.

Needs Linux with libfuse3, or the npm package fuse-native, which is slower;
keibidrop doctor says which is there, and KD_MOUNT_BACKEND, as the daemon is
started, takes the one that it names. As root, since Linux 6.9, the kernel reads
what has come whole of a --read-only mount by itself, several times as fast.

Environment: KD_RENDEZVOUS KD_DISCOVERY KD_PATIENCE KD_CONFIG_DIR
  KD_MOUNT_BACKEND
Exit codes: 0 mounted, 1 failed, 2 usage, or the code is of a transfer, 3 wrong
code, 4 not reachable, 6 mount not available.
`;

const AFTER_UNMOUNT = `
Examples:
  keibidrop unmount photos
  keibidrop unmount photos --force      also if a program is in it, or changes
                                        cannot be sent: those are given up

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage, 4 no daemon runs, 6 in use, or not mounted.
`;

export function addMountCommand(program: Command, onRun: (options: MountCommand) => Promise<void>): void {
  const command = program
    .command('mount')
    .summary('show a shared folder as a folder of this computer')
    .description('Mount a folder that is shared under a code, or by a contact with you, as a folder of this computer.')
    .usage('[options] CODE|CONTACT|SHARE DIR')
    .argument(
      '[words...]',
      'the code, such as 7-guitar-pencil, - for one on standard input, a contact, or a share of keibidrop list; then the folder',
    )
    .addOption(new Option('--read-only', 'change nothing through it'))
    .addOption(
      new Option('--cache-size <size>', 'keep so much of what was read, such as 500M; else a quarter of the disk'),
    )
    .addOption(new Option('--keep-cache', 'of a contact: keep what was read for the next mount, until a restart'))
    .addOption(new Option('--connect <host:port>', 'the address of who shares').conflicts('relayOnly'))
    .addOption(new Option('--timeout <time>', 'give up after this, such as 30s or 10m'));
  addEverywhereOptions(command)
    .addHelpText('after', AFTER_MOUNT)
    .action((words: string[], typed: MountCommand) => onRun(parseMount(words, typed)));
}

export function addUnmountCommand(program: Command, onRun: (options: UnmountCommand) => Promise<void>): void {
  program
    .command('unmount')
    .summary('end what mount has begun')
    .description('Take a mounted folder away.')
    .argument('[dir]', 'the folder')
    .addOption(new Option('--force', 'also if a program uses it, or changes cannot be sent'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('-q, --quiet', 'say nothing'))
    .addOption(new Option('--json', 'one JSON object on stdout, for programs'))
    .addHelpText('after', AFTER_UNMOUNT)
    .action((dir: string | undefined, typed: Omit<UnmountCommand, 'dir'>) => {
      if (dir === undefined) throw new KeibiError('USAGE', 'Say which folder, for example: keibidrop unmount photos');
      return onRun({ ...typed, dir });
    });
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
export async function runMount(options: MountCommand, caller: Io, peer: PeerPackage): Promise<number> {
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

/** @throws MOUNT_BUSY, MOUNT_UNAVAILABLE, DAEMON_* */
export async function runUnmount(
  { dir, force = false, config, json, quiet }: UnmountCommand,
  io: Io,
  peer: PeerPackage,
): Promise<number> {
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    const { mount, unsent } = await daemon.call('unmount', { folder: resolve(io.cwd, dir), force }, io);
    if (json) io.stdout.write(lineOf('unmounted', { folder: mount?.folder, unsent }));
    else if (!quiet) io.stdout.write(`Unmounted ${harmless(mount?.folder ?? dir)}.\n`);
    if (unsent > 0)
      io.stderr.write(`keibidrop: ${formatCount(unsent, 'changed file')} could not be sent, and given up.\n`);
    return 0;
  });
}
