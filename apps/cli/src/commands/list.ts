// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, MountView, ShareEntryView, ShareView } from '@keibidrop/daemon';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { formatBytes, formatCount, formatTime } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { limited } from '../options/time-limit.ts';
import { type Io, paint } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';

/** `keibidrop list`, parsed. */
export interface ListCommand {
  path?: string;
  watch?: boolean;
  timeout?: string;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop list                   your shares and those you are connected to
  keibidrop list photos            the entries of a share
  keibidrop list photos/holiday
  keibidrop list photos --watch    print changes until Ctrl-C
  keibidrop list photos --json

If there is only one share, its name may be omitted: keibidrop list holiday

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed or no such share, 2 usage, 4 no daemon runs, or the
share is offline until --timeout, 130 Ctrl-C.
`;

export const command: CliCommand<ListCommand> = { name: 'list', declare, run };

function declare(command: Command, onRun: OnRun<ListCommand>): void {
  command
    .summary('list shares, or the entries of one')
    .description('List the shares, or the entries of one that you are connected to.')
    .argument('[share/path]', 'a share, or a folder in it: SHARE or SHARE/PATH')
    .addOption(new Option('--watch', 'print changes as they happen'))
    .addOption(new Option('--timeout <time>', 'give up after this, such as 30s or 10m'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout, one per change with --watch'))
    .addHelpText('after', AFTER_HELP)
    .action((path: string | undefined, options: ListCommand) =>
      onRun({ ...options, ...(path !== undefined && { path }) }),
    );
}

/** @throws SHARE_*, DAEMON_* */
async function run(options: ListCommand, caller: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { path, watch, config, json, timeout } = options;
  const io = limited(caller, timeout, 'The share may be offline; see keibidrop list.');
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    if (watch) return watchShare(daemon, path ?? '', io, json);
    if (path === undefined) return listShares(daemon, io, json);
    return listEntries(daemon, path, io, json);
  });
}

async function listShares(daemon: LocalClient, io: Io, json: boolean | undefined): Promise<number> {
  const [{ shares }, { mounts }] = await Promise.all([daemon.call('shares', {}, io), daemon.call('mounts', {}, io)]);
  if (json) io.stdout.write(lineOf('shares', { shares, mounts }));
  else if (shares.length === 0) {
    io.stdout.write('No shares. Connect to one with keibidrop connect CODE, or add a folder: keibidrop add DIR\n');
  } else for (const share of shares) io.stdout.write(`${lineOfShare(share, mounts, io)}\n`);
  return 0;
}

/**
 * `photos  connected  of anna (lan), mounted at /home/me/photos` or
 * `music  open  /home/me/music, code 7-guitar-pencil, 2 guests, 3 known`.
 */
function lineOfShare(
  { name, kind, state, contact, peer = '', path, folder = '', code = '', guests, knownGuests, readOnly }: ShareView,
  mounts: readonly MountView[],
  io: Io,
): string {
  const about =
    kind === 'own'
      ? `${harmless(folder)}, code ${code}, ${formatCount(guests, 'guest')}, ${knownGuests} known`
      : `of ${harmless(contact ?? peer)}${path === undefined ? '' : ` (${path})`}`;
  const shown = kind === 'guest' ? mounts.filter(({ share }) => share === name) : [];
  const places = shown.map(({ folder: place }) => `, mounted at ${harmless(place)}`).join('');
  return `${paint(io.stdout, 'bold', harmless(name).padEnd(20))} ${state.padEnd(9)} ${about}${readOnly ? ', read-only' : ''}${places}`;
}

async function listEntries(daemon: LocalClient, path: string, io: Io, json: boolean | undefined): Promise<number> {
  const entries: ShareEntryView[] = [];
  let leftOut = 0;
  for await (const part of daemon.stream('listShare', { path }, io)) {
    entries.push(...part.entries);
    leftOut += part.leftOut;
  }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  if (json) {
    const shown = entries.map((entry) => ({ ...entry, modified: new Date(entry.modified).toISOString() }));
    io.stdout.write(lineOf('list', { path, entries: shown, leftOut }));
    return 0;
  }
  for (const entry of entries) io.stdout.write(`${lineOfEntry(entry, io)}\n`);
  if (entries.length === 0) io.stderr.write('The folder is empty.\n');
  if (leftOut > 0)
    io.stderr.write(`${formatCount(leftOut, 'entry')} cannot be sent and ${leftOut === 1 ? 'is' : 'are'} left out.\n`);
  return 0;
}

function lineOfEntry({ type, name, size, modified, target }: ShareEntryView, io: Io): string {
  const amount = (type === 'file' ? formatBytes(size) : type === 'directory' ? 'folder' : 'link').padStart(9);
  const shown = type === 'directory' ? paint(io.stdout, 'bold', `${harmless(name)}/`) : harmless(name);
  return `${amount}  ${formatTime(new Date(modified))}  ${shown}${target === undefined ? '' : ` -> ${harmless(target)}`}`;
}

async function watchShare(daemon: LocalClient, path: string, io: Io, json: boolean | undefined): Promise<number> {
  let first = true;
  for await (const { changes, lookAgain, incomplete } of daemon.stream('watchShare', { path }, io)) {
    if (json) io.stdout.write(lineOf(first ? 'watching' : 'changes', { changes, lookAgain, incomplete }));
    else {
      if (first) io.stderr.write('Watching; Ctrl-C ends.\n');
      if (first && incomplete) io.stderr.write('Some subfolders cannot be watched.\n');
      if (lookAgain) io.stdout.write('unknown changes\n');
      for (const { kind, path: changed } of changes) io.stdout.write(`${kind.padEnd(8)} ${harmless(changed)}\n`);
    }
    first = false;
  }
  return 0;
}
