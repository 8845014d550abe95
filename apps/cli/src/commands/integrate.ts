// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { lineOf } from '../display/json-lines.ts';
import { type Outcome, removeFileOf, updateLinkTypes, writeFileOf } from '../integration/integrate.ts';
import { integrationFiles, userDirectories } from '../integration/integration-files.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';

/** `keibidrop integrate`, parsed. */
export interface IntegrateCommand {
  remove?: boolean;
  autostart?: boolean;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop integrate
  keibidrop integrate --remove

Writes for this user, on a Linux desktop: a menu entry, which also opens
keibidrop:// links, its icons, and "Send with KeibiDrop" for Nautilus (under
Scripts), Nemo, Dolphin and Thunar (under Send To). A file of the same name that
KeibiDrop did not write is kept. Run it again after KeibiDrop or Node has moved.

Environment: XDG_DATA_HOME XDG_CONFIG_HOME
Exit codes: 0 done, 1 failed, 2 usage.
`;

/** Lies beside the delivered program. */
const ICONS = {
  folder: fileURLToPath(new URL('desktop/icons', import.meta.url)),
  sizes: [16, 24, 32, 48, 64, 128, 256],
};

export const command: CliCommand<IntegrateCommand> = { name: 'integrate', declare, run };

function declare(command: Command, onRun: OnRun<IntegrateCommand>): void {
  command
    .summary('add KeibiDrop to the menu and the file managers')
    .description('Add KeibiDrop to the menu, the links and the file managers of this user.')
    .addOption(new Option('--remove', 'remove them').conflicts('autostart'))
    .addOption(new Option('--autostart', 'also start with an icon in the tray at each login'))
    .addOption(new Option('--json', 'print one JSON object per file on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((options: IntegrateCommand) => onRun(options));
}

/** @throws PLATFORM_UNSUPPORTED, USAGE, FOLDER_UNREADABLE */
async function run({ remove, autostart, json }: IntegrateCommand, io: Io, _loadPeer: LoadPeer): Promise<number> {
  if (process.platform !== 'linux') throw new KeibiError('PLATFORM_UNSUPPORTED', NOT_LINUX);
  const program = io.program.map((word) => (word.startsWith('-') ? word : resolve(io.cwd, word)));
  if (!remove && program.some((word) => word.includes('/_npx/'))) throw new KeibiError('USAGE', NOT_KEPT);
  const directories = userDirectories(io.env);
  const { files, autostart: entry } = integrationFiles(directories, program, ICONS);
  const change = remove ? removeFileOf : writeFileOf;
  for (const file of [...files, ...(remove || autostart ? [entry] : [])]) {
    const outcome = await change(file);
    if (json) io.stdout.write(lineOf('file', { path: file.path, outcome }));
    else if (outcome !== 'absent') io.stdout.write(`${LABELS[outcome]}  ${harmless(file.path)}\n`);
  }
  if (!(await updateLinkTypes(directories)) && !remove) io.stderr.write(`${NO_LINKS}\n`);
  return 0;
}

const LABELS: Readonly<Record<Exclude<Outcome, 'absent'>, string>> = {
  written: 'wrote    ',
  unchanged: 'unchanged',
  kept: 'kept     ',
  removed: 'removed  ',
};

const NOT_LINUX =
  'keibidrop integrate is for Linux desktops. On macOS and Windows the packaged window brings its own entries.';
const NOT_KEPT =
  'npx runs KeibiDrop from a cache that is emptied some day. Install it first: npm install --global keibidrop.';
const NO_LINKS =
  'keibidrop:// links open only once the list of links is updated: install desktop-file-utils and run it again.';
