// SPDX-License-Identifier: MPL-2.0
import type { HistoryEntry } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { formatBytes, formatCount, formatRate, formatTime } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { type Io, paint } from '../terminal/io.ts';
import { harmless, quoted } from '../terminal/terminal-text.ts';

/** `keibidrop history`, parsed. */
export interface HistoryCommand {
  limit: number;
  clear?: boolean;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop history
  keibidrop history --limit 5 --json
  keibidrop history --clear

The history keeps the last 1000 entries for one year; history_entries and
history_days in config.toml change that, and 0 keeps nothing. Transfers with
--incognito are not recorded.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage.
`;

export const command: CliCommand<HistoryCommand> = { name: 'history', declare, run };

function declare(command: Command, onRun: OnRun<HistoryCommand>): void {
  command
    .summary('list finished transfers')
    .description('List finished transfers, the newest last.')
    .addOption(new Option('--limit <n>', 'number of entries to list (20)'))
    .addOption(new Option('--clear', 'delete all entries').conflicts('limit'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((typed: Omit<HistoryCommand, 'limit'> & { limit?: string }) => {
      const { limit = '20', ...rest } = typed;
      if (!/^\d{1,6}$/.test(limit)) {
        throw new KeibiError('USAGE', `--limit must be a number of entries; it is ${quoted(limit)}.`);
      }
      return onRun({ ...rest, limit: Number(limit) });
    });
}

/** @throws CONFIG_INVALID */
async function run(options: HistoryCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, clear, limit, json } = options;
  const { configDir, history: limits } = await peer.loadSettings({ flags: { config }, env: io.env, cwd: io.cwd });
  const history = new peer.History(peer.stateDirOf(configDir), async () => limits);
  if (clear) {
    const removed = await history.clear();
    io.stdout.write(json ? lineOf('cleared', { removed }) : `${formatCount(removed, 'entry')} removed.\n`);
    return 0;
  }
  const entries = (await history.list(limit)).reverse();
  if (json) io.stdout.write(lineOf('history', { entries }));
  else if (entries.length === 0) io.stdout.write('The history is empty.\n');
  else for (const entry of entries) io.stdout.write(textOf(entry, io));
  return 0;
}

/** `2026-11-21 21:04  sent      photos to bob: 3 files, 12 MB, 30 MB/s, lan`. */
function textOf(entry: HistoryEntry, io: Io): string {
  const { time, kind, what, with: peer, files, bytes, bytesPerSecond, path, result } = entry;
  const when = paint(io.stdout, 'dim', formatTime(new Date(time)));
  const whom = peer === '' ? '' : ` ${kind === 'send' ? 'to' : 'from'} ${harmless(peer)}`;
  const verb = kind === 'send' ? 'sent    ' : 'received';
  const name = harmless(what === '' ? 'nothing' : what);
  if (result !== 'OK') return `${when}  ${verb}  ${name}${whom}: ${paint(io.stdout, 'red', result)}\n`;
  const figures = [
    ...(files > 0 ? [formatCount(files, 'file')] : []),
    formatBytes(bytes),
    ...(bytesPerSecond > 0 ? [formatRate(bytesPerSecond)] : []),
    ...(path === undefined ? [] : [path]),
  ];
  return `${when}  ${verb}  ${name}${whom}: ${figures.join(', ')}\n`;
}
