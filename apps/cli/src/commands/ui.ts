// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { type Command, Option } from 'commander';
import { withDaemon } from '../daemon-connection.ts';
import type { Io } from '../io.ts';
import { lineOf } from '../json-lines.ts';
import type { PeerPackage } from '../peer-package.ts';

/** `keibidrop ui`, parsed. */
export interface UiCommand {
  /** False: only say where the page is. */
  open: boolean;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop ui
  keibidrop ui --no-open

The page is the daemon's, on this computer only. Whoever has the whole address
can do everything that you can do with it: do not pass it on.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage.
`;

export function addUiCommand(program: Command, onRun: (options: UiCommand) => Promise<void>): void {
  program
    .command('ui')
    .summary('open the page in the browser')
    .description('Open the page of the daemon in the browser.')
    .addOption(new Option('--no-open', 'only print the address'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object with the address, and open nothing'))
    .addHelpText('after', AFTER_HELP)
    .action((options: UiCommand) => onRun(options));
}

export async function runUi({ open, config, json }: UiCommand, io: Io, peer: PeerPackage): Promise<number> {
  return withDaemon(io, peer, { config, start: true }, async (daemon) => {
    const { url, file } = await daemon.call('openPage', {}, { signal: io.signal });
    if (json) io.stdout.write(lineOf('page', { url }));
    else if (open && (await opened(file, io))) io.stdout.write('The page is in your browser.\n');
    else io.stdout.write(`${url}\n`);
    return 0;
  });
}

/** Has the desktop open a file; false if there is none that could. The file, and not the address, since others can read a command line. */
async function opened(file: string, io: Io): Promise<boolean> {
  const desktop = process.platform !== 'linux' || io.env.DISPLAY || io.env.WAYLAND_DISPLAY;
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open';
  if (!desktop) return false;
  return new Promise((resolve) => {
    const child = spawn(command, [file], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    child.unref();
  });
}
