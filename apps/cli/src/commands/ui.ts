// SPDX-License-Identifier: MPL-2.0
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop ui`, parsed. */
export interface UiCommand {
  /** False: only print the address. */
  open: boolean;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop ui
  keibidrop ui --no-open

The daemon serves the page to this computer only. Its address is permanent: once
a browser has opened it, you can bookmark it and reload it while the daemon
runs. The printed address admits one browser, once, within ten minutes: keep it
secret. The token of --json is for programs, and valid until the daemon ends.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage.
`;

export const command: CliCommand<UiCommand> = { name: 'ui', declare, run };

function declare(command: Command, onRun: OnRun<UiCommand>): void {
  command
    .summary('open the web page in the browser')
    .description('Open the web page of the daemon in the browser.')
    .addOption(new Option('--no-open', 'only print the address'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object with the address and a token, and open nothing'))
    .addHelpText('after', AFTER_HELP)
    .action((options: UiCommand) => onRun(options));
}

async function run({ open, config, json }: UiCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  return withDaemon(io, peer, { config, start: true }, async (daemon) => {
    const { url, file, token } = await daemon.call('openPage', {}, { signal: io.signal });
    if (json) io.stdout.write(lineOf('page', { url, token }));
    // Opens a file instead of the address, because other users can read a command line.
    else if (open && (await peer.openByDesktop(file, io.env))) io.stdout.write('The page is in your browser.\n');
    else io.stdout.write(`${url}\n`);
    return 0;
  });
}
