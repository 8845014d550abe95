// SPDX-License-Identifier: MPL-2.0
import { lstat, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeibiError, messageFor, parseCode, parseFingerprint } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import envPaths from 'env-paths';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { formatBytes, formatBytesOf } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Io } from '../terminal/io.ts';
import { RepaintedLines } from '../terminal/repainted-lines.ts';
import { quoted } from '../terminal/terminal-text.ts';
import { type ElectronRelease, findElectron, programIn, unavailable } from '../window/electron.ts';
import { startWindow } from '../window/window-process.ts';
import { command as send } from './send.ts';
import { command as ui } from './ui.ts';

/** `keibidrop desktop`, parsed. */
export interface DesktopCommand {
  /** Files to send, as paths or `file:` addresses, and `keibidrop:` links. */
  what: string[];
  hidden?: boolean;
  download: boolean;
  orBrowser?: boolean;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop desktop
  keibidrop desktop photos movie.mkv
  keibidrop desktop keibidrop://receive/7-guitar-pencil

Opens the window, or brings files and links to the open one. Files and links
only fill in a form: you decide in the window. It needs Electron: the one of
ELECTRON_OVERRIDE_DIST_PATH, of the npm package electron installed beside
keibidrop, or one downloaded once (about 120 MB, compared with a SHA-256 that
comes with keibidrop). ELECTRON_MIRROR names another place to download from.
Without Electron, keibidrop ui opens the same page in the browser.

Environment: KD_CONFIG_DIR ELECTRON_OVERRIDE_DIST_PATH ELECTRON_MIRROR
Exit codes: 0 the window is open, 1 failed, 2 usage, 130 Ctrl-C.
`;

export const command: CliCommand<DesktopCommand> = { name: 'desktop', declare, run };

function declare(command: Command, onRun: OnRun<DesktopCommand>): void {
  command
    .summary('open the window')
    .description('Open the window, with files to send or a link.')
    .argument('[files and links...]', 'files to send, or a keibidrop:// link')
    .addOption(new Option('--hidden', 'show only the icon in the tray'))
    .addOption(new Option('--no-download', 'fail if there is no Electron on this computer'))
    .addOption(new Option('--or-browser', 'without Electron, send in the background and open the browser'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object'))
    .addHelpText('after', AFTER_HELP)
    .action((what: string[], options: Omit<DesktopCommand, 'what'>) => onRun({ ...options, what }));
}

/** The window lies beside the delivered program. */
const APP = fileURLToPath(new URL('desktop', import.meta.url));

/** @throws WINDOW_UNAVAILABLE, USAGE, CODE_MALFORMED, TRANSFER_SOURCE_MISSING */
async function run(options: DesktopCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const { hidden, orBrowser = false, config, json = false } = options;
  const opened = await Promise.all(options.what.map((word) => openedBy(word, io.cwd)));
  const electron = hasScreen(io.env) ? await electronFor(options, io) : undefined;
  if (electron === undefined) {
    if (!orBrowser) throw unavailable(hasScreen(io.env) ? 'There is no Electron on this computer' : NO_SCREEN);
    return inBrowser(opened, { config, json }, io, loadPeer);
  }
  const outcome = await startWindow({
    electron,
    app: APP,
    args: [...opened, ...(hidden ? ['--hidden'] : [])],
    program: io.program,
    env: config === undefined ? io.env : { ...io.env, KD_CONFIG_DIR: resolve(io.cwd, config) },
    signal: io.signal,
  });
  if (json) io.stdout.write(lineOf('window', { outcome, electron }));
  else io.stdout.write(outcome === 'opened' ? 'The window is open.\n' : 'The open window shows it.\n');
  return 0;
}

const NO_SCREEN = 'There is no screen here: neither DISPLAY nor WAYLAND_DISPLAY is set';

/** Without one Electron would be downloaded for nothing, and crash. */
function hasScreen({ DISPLAY, WAYLAND_DISPLAY }: Io['env']): boolean {
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
}

/** A link as it is, a file as an absolute path: the window ignores what it cannot open, so errors are found here. */
async function openedBy(word: string, cwd: string): Promise<string> {
  if (/^keibidrop:/i.test(word)) {
    checkLink(word);
    return word;
  }
  const path = word.startsWith('file://') ? pathOf(word) : resolve(cwd, word);
  await lstat(path).catch((cause: unknown) => {
    throw new KeibiError('TRANSFER_SOURCE_MISSING', messageFor('TRANSFER_SOURCE_MISSING', quoted(word)), { cause });
  });
  return path;
}

function checkLink(link: string): void {
  const [, what, about = ''] = /^keibidrop:\/\/(receive|id)\/([\w-]+)\/?$/i.exec(link) ?? [];
  if (what?.toLowerCase() === 'receive') parseCode(about);
  else if (what?.toLowerCase() === 'id') parseFingerprint(about);
  else
    throw new KeibiError('USAGE', 'That link is not one of keibidrop://receive/CODE and keibidrop://id/FINGERPRINT.');
}

function pathOf(address: string): string {
  try {
    return fileURLToPath(address);
  } catch (cause) {
    throw new KeibiError('USAGE', `${quoted(address)} is not the address of a file on this computer.`, { cause });
  }
}

/** Undefined if there is none, and none may be downloaded. */
async function electronFor({ download, orBrowser }: DesktopCommand, io: Io): Promise<string | undefined> {
  const release = JSON.parse(await readFile(join(APP, 'electron.json'), 'utf8')) as ElectronRelease;
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(envPaths('keibidrop', { suffix: '' }).cache, `electron-${release.version}-${platform}`);
  const found = findElectron(APP, folder, io.env);
  if (found !== undefined || !download || orBrowser) return found;
  const { downloadElectron } = await import('../window/electron-download.ts');
  const { stderr } = io;
  stderr.write(`Downloading Electron ${release.version}, once, for the window.\n`);
  const lines = new RepaintedLines(stderr, io.now);
  const onProgress = (bytes: number, total: number) => {
    const line =
      total > 0 ? `${formatBytesOf(bytes, total)}  ${Math.floor((100 * bytes) / total)}%` : formatBytes(bytes);
    lines.show({ lines: () => [line], plainLine: () => line });
  };
  try {
    const mirror = io.env.ELECTRON_MIRROR;
    await downloadElectron({ release, platform, mirror, into: folder, onProgress, signal: io.signal });
  } finally {
    lines.clear();
  }
  return programIn(folder);
}

/** For file managers, which show no terminal: the send runs in the daemon, and its code is in the browser. */
async function inBrowser(
  opened: readonly string[],
  { config, json }: { config: string | undefined; json: boolean },
  io: Io,
  loadPeer: LoadPeer,
): Promise<number> {
  const paths = opened.filter((word) => !/^keibidrop:/i.test(word));
  const given = { ...(config !== undefined && { config }), json };
  if (paths.length > 0) await send.run({ ...given, paths, stdin: false, receivers: 1, background: true }, io, loadPeer);
  return ui.run({ ...given, open: true, json: false }, io, loadPeer);
}
