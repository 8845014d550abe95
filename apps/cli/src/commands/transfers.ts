// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import { Argument, type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { noteShown, reportEnded, untilEnded } from '../daemon/daemon-transfer.ts';
import { formatBytes, formatBytesOf, formatRate } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { limited } from '../options/time-limit.ts';
import { type Io, paint } from '../terminal/io.ts';
import { harmless, harmlessLines, quoted, shortened } from '../terminal/terminal-text.ts';

const ACTIONS = ['wait', 'pause', 'resume', 'cancel', 'retry', 'first', 'remove', 'accept', 'decline'] as const;

/** `keibidrop transfers`, parsed. */
export interface TransfersCommand {
  action?: (typeof ACTIONS)[number];
  id?: number;
  /** For `wait`. */
  timeout?: string;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop transfers
  keibidrop transfers wait 3 --timeout 10m
  keibidrop transfers pause 3
  keibidrop transfers retry 3
  keibidrop transfers accept 4

Sends run one after another, except those started with --now.

wait shows the progress, and exits like send or receive.
first moves a send to the front of the queue.
retry restarts a failed or cancelled transfer.
remove takes a finished transfer off the list.
accept and decline answer an offer.

A received text is kept until the list or wait has shown it.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed or no such transfer, 2 usage, 4 no daemon runs.
`;

export const command: CliCommand<TransfersCommand> = { name: 'transfers', declare, run };

function declare(command: Command, onRun: OnRun<TransfersCommand>): void {
  command
    .summary('list and control the transfers of the daemon')
    .description('List the transfers of the daemon, or control one.')
    .addArgument(new Argument('[action]', 'the action').choices(ACTIONS))
    .argument('[id]', 'number of the transfer in the list')
    .addOption(new Option('--timeout <time>', 'wait no longer than this, such as 30s or 10m'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((action: TransfersCommand['action'], id: string | undefined, options: TransfersCommand) => {
      if (action === undefined) return onRun(options);
      if (id === undefined || !/^\d{1,9}$/.test(id)) {
        const what = id === undefined ? 'It is missing' : `It is ${quoted(id)}`;
        throw new KeibiError('USAGE', `Give the number of a transfer. ${what}; see keibidrop transfers.`);
      }
      if (options.timeout !== undefined && action !== 'wait') throw new KeibiError('USAGE', '--timeout is for wait.');
      return onRun({ ...options, action, id: Number(id) });
    });
}

/** @throws DAEMON_UNREACHABLE, TRANSFER_UNKNOWN, QUESTION_GONE, USAGE */
async function run(options: TransfersCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, action, id = 0, json } = options;
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    if (action === undefined) {
      const { transfers } = await daemon.call('transfers', {}, { signal: io.signal });
      if (json) io.stdout.write(lineOf('transfers', { transfers }));
      else io.stdout.write(listOf(transfers, io));
      await noteShown(daemon, transfers, io.signal);
      return 0;
    }
    if (action === 'wait') {
      const limitedIo = limited(io, options.timeout, 'The transfer continues: see keibidrop transfers.');
      const ended = await untilEnded(daemon, id, limitedIo, options);
      const exit = reportEnded(ended, io, { json, event: 'transfer' });
      await noteShown(daemon, [ended], io.signal);
      return exit;
    }
    const transfer = await changed(daemon, action, id, io);
    if (json) io.stdout.write(lineOf('transfer', transfer));
    else io.stdout.write(`Transfer ${id} is ${action === 'remove' ? 'off the list' : transfer.state}.\n`);
    return 0;
  });
}

async function changed(
  daemon: LocalClient,
  action: Exclude<(typeof ACTIONS)[number], 'wait'>,
  id: number,
  { signal }: Io,
): Promise<TransferView> {
  if (action === 'accept' || action === 'decline') {
    const { questions } = await daemon.call('questions', {}, { signal });
    const offer = questions.find(({ transfer, about }) => transfer === id && about?.$case === 'offer');
    if (offer === undefined)
      throw new KeibiError(
        'QUESTION_GONE',
        `Transfer ${id} has no pending question. List the transfers with keibidrop transfers.`,
      );
    const answer = action === 'accept' ? 'yes' : 'no';
    await daemon.call('answer', { question: offer.question, answer }, { signal });
    const { transfers } = await daemon.call('transfers', {}, { signal });
    const transfer = transfers.find((each) => each.id === id);
    if (transfer === undefined) throw new KeibiError('TRANSFER_UNKNOWN');
    return transfer;
  }
  const { transfer } = await daemon.call('control', { transfer: id, action }, { signal });
  if (transfer === undefined) throw new KeibiError('TRANSFER_UNKNOWN');
  return transfer;
}

function listOf(transfers: readonly TransferView[], io: Io): string {
  if (transfers.length === 0) return 'Nothing is under way.\n';
  return transfers.map((transfer) => `${lineOfTransfer(transfer, io)}\n${unreadText(transfer)}`).join('');
}

/** A text not shown yet, for the lines below its transfer. */
function unreadText({ unread, text }: TransferView): string {
  if (!unread || text === undefined) return '';
  return harmlessLines(text).replace(/^/gm, '      ').concat('\n');
}

/** `  3 send     running   photos to bob, 12/34 MB, 30 MB/s`. */
function lineOfTransfer(transfer: TransferView, io: Io): string {
  const { id, kind, state, what, contact, peer, code, error } = transfer;
  const head = `${String(id).padStart(3)} ${kind.padEnd(7)} ${state.padEnd(9)} `;
  const name = contact ?? peer;
  const whom = name === undefined ? '' : ` ${kind === 'send' ? 'to' : 'from'} ${harmless(name)}`;
  const waiting = state === 'waiting' && code !== undefined ? `, code ${code}` : '';
  const tail = error === undefined ? `${amountOf(transfer)}${waiting}` : `: ${error.code}`;
  const text = `${harmless(what === '' ? 'something' : what)}${whom}${tail}`;
  const columns = io.stdout.isTerminal ? io.stdout.columns() : Number.POSITIVE_INFINITY;
  return paint(io.stdout, 'bold', head) + shortened(text, columns - head.length);
}

function amountOf({ state, bytes, totalBytes, bytesPerSecond }: TransferView): string {
  if (state === 'done') return `, ${formatBytes(bytes)}`;
  if (bytes === 0 && totalBytes === 0) return '';
  const rate = state === 'running' ? `, ${formatRate(bytesPerSecond)}` : '';
  return `, ${formatBytesOf(bytes, Math.max(bytes, totalBytes))}${rate}`;
}
