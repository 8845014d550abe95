// SPDX-License-Identifier: MPL-2.0
import type { FailedEntry, ReceiveResult, SendResult, TransferCounts, TransferSummary } from '@keibidrop/peer';
import { errorOfFailures, exitCodeOf } from '@keibidrop/protocol';
import { fitted, type Io, paint, type Screen } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';
import { formatBytes, formatCount, formatDuration, formatNumber, formatRate } from './format.ts';
import { jsonErrorLine } from './json-lines.ts';

const LISTED_FAILURES = 20;

export interface OutcomeOptions {
  json?: boolean;
  quiet?: boolean;
  /** Standard output carries a file, so messages go to stderr. */
  stdout?: boolean;
  /** The result in sentences; '' prints nothing. */
  summary: string;
}

/** Prints the result of a finished transfer and returns the exit code. With --json the `done` line is already printed. */
export function reportOutcome(result: TransferSummary, io: Io, options: OutcomeOptions): number {
  const error = errorOfFailures(result.failed);
  if (options.json) {
    if (error !== undefined) io.stdout.write(jsonErrorLine(error, result));
  } else {
    const screen = options.stdout ? io.stderr : io.stdout;
    if (options.summary !== '' && !options.quiet) screen.write(summaryOf(options.summary, screen));
    if (error !== undefined) io.stderr.write(failureList(result.failed, io));
  }
  return error === undefined ? 0 : exitCodeOf(error);
}

/** The summary for a screen, with its first word in green: it reports a success. */
function summaryOf(summary: string, screen: Screen): string {
  return `${fitted(
    screen,
    summary.replace(/^\w+/, (word) => paint(screen, 'green', word)),
  )}\n`;
}

/** The failed entries with reasons, at most 20. */
export function failureList(failed: readonly FailedEntry[], io: Io): string {
  const head = `${failed.length === 1 ? 'One entry' : `${formatNumber(failed.length)} entries`} failed:`;
  const lines = [paint(io.stderr, 'red', head)];
  for (const { path, message } of failed.slice(0, LISTED_FAILURES))
    lines.push(`  ${harmless(path)}: ${harmless(message)}`);
  if (failed.length > LISTED_FAILURES) lines.push(`  and ${formatNumber(failed.length - LISTED_FAILURES)} more`);
  return `${fitted(io.stderr, lines.join('\n'))}\n`;
}

export function sentSummary(result: SendResult, text: boolean): string {
  const to = result.receivers > 1 ? ` to ${formatCount(result.receivers, 'receiver')}` : '';
  return text ? `Sent the text${to}.` : `Sent ${amountOf(result)}${to}.${remarks(result)}`;
}

/** @param destination  undefined: standard output */
export function receivedSummary(result: ReceiveResult, destination: string | undefined): string {
  const into = destination === undefined ? '' : ` into ${harmless(destination)}`;
  return `Received ${sizeOf(result)}${into} ${paceOf(result)}.${remarks(result)}`;
}

/** `3 files, 12 MB in 0.4 s (30 MB/s)`. */
export function amountOf(result: TransferCounts): string {
  return `${sizeOf(result)} ${paceOf(result)}`;
}

function sizeOf({ files, bytes }: TransferCounts): string {
  return `${formatCount(files, 'file')}, ${formatBytes(bytes)}`;
}

/** `in 0.4 s (30 MB/s)`: without what an earlier run had received. */
function paceOf({ bytes, resumedBytes, seconds }: TransferCounts): string {
  const rate = seconds > 0 ? ` (${formatRate((bytes - resumedBytes) / seconds)})` : '';
  return `in ${formatDuration(seconds)}${rate}`;
}

/** A folder as people write it: `~/Downloads`. Programs read whole paths, so only a terminal shows it so. */
export function folderName(folder: string, { stdout, env }: Pick<Io, 'stdout' | 'env'>): string {
  const home = env.HOME;
  if (!stdout.isTerminal || !home || home === '/' || !`${folder}/`.startsWith(`${home}/`)) return folder;
  return `~${folder.slice(home.length)}`;
}

function remarks({ skipped, resumedBytes }: TransferSummary): string {
  const there = resumedBytes > 0 ? `\n${formatBytes(resumedBytes)} of it arrived in an earlier run.` : '';
  const kept = skipped === 1 ? 'was' : 'were';
  return skipped > 0 ? `${there}\n${formatCount(skipped, 'file')} already existed and ${kept} skipped.` : there;
}
