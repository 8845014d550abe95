// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, ProgressView, TransferView } from '@keibidrop/daemon';
import { exitCodeOf, isErrorCode, KeibiError } from '@keibidrop/protocol';
import { formatBytes, formatCount } from '../display/format.ts';
import { jsonErrorLine, lineOf } from '../display/json-lines.ts';
import { type Progress, plainLines, progressLines } from '../display/progress-line.ts';
import type { Io } from '../terminal/io.ts';
import { RepaintedLines } from '../terminal/repainted-lines.ts';
import { harmless, harmlessLines } from '../terminal/terminal-text.ts';

/** How to display the transfer. */
export interface Shown {
  json?: boolean | undefined;
  quiet?: boolean | undefined;
}

/**
 * Yields a transfer of the daemon now and after each change, while it is on the list.
 *
 * @throws TRANSFER_UNKNOWN once it is removed; DAEMON_LOST; `signal.reason`
 */
export async function* viewsOf(
  daemon: LocalClient,
  id: number,
  { signal, progress = false }: { signal: AbortSignal; progress?: boolean },
): AsyncGenerator<TransferView> {
  let view: TransferView | undefined;
  for await (const { transfer, happened } of daemon.stream('watch', { progress }, { signal })) {
    if (happened?.$case === 'present' && view === undefined) throw new KeibiError('TRANSFER_UNKNOWN');
    if (transfer !== id) continue;
    if (happened?.$case === 'removed') throw new KeibiError('TRANSFER_UNKNOWN');
    if (happened?.$case === 'changed') view = happened.value;
    else if (happened?.$case === 'progress' && view !== undefined) view = progressed(view, happened.value);
    else continue;
    yield view;
  }
  throw new KeibiError('DAEMON_LOST');
}

/** The transfer with newer figures. */
function progressed(view: TransferView, { resumedBytes = view.resumedBytes, ...figures }: ProgressView): TransferView {
  return { ...view, ...figures, resumedBytes };
}

/** Shows the progress of a transfer until it ends. Throws as `viewsOf` does. */
export async function untilEnded(daemon: LocalClient, id: number, io: Io, shown: Shown): Promise<TransferView> {
  const lines = new RepaintedLines(io.stderr, io.now);
  try {
    for await (const view of viewsOf(daemon, id, { signal: io.signal, progress: true })) {
      if (view.ended !== undefined) return view;
      if (shown.json || shown.quiet) continue;
      const row = { progress: view as Progress, via: view.path ?? view.state };
      lines.show({
        lines: (columns) => progressLines([row], columns, io.stderr, io.now()),
        plainLine: () => plainLines([row]).join('\n'),
      });
    }
    throw new KeibiError('DAEMON_LOST');
  } finally {
    lines.clear();
  }
}

/** Prints the result of a transfer, as `event` with --json. @returns  the exit code @throws its error, unless --json */
export function reportEnded(view: TransferView, io: Io, { json, quiet, event }: Shown & { event: string }): number {
  const { kind, state, error, files, bytes, place, skipped } = view;
  if (state === 'cancelled' && error === undefined) throw new KeibiError('CANCELLED', 'The transfer was cancelled.');
  if (error !== undefined) {
    const failure = errorOf(error);
    if (!json) throw failure;
    io.stdout.write(jsonErrorLine(failure));
    return exitCodeOf(failure);
  }
  const counted = `${formatCount(files, 'file')}, ${formatBytes(bytes)}`;
  const said = kind === 'send' ? `Sent ${counted}.` : receivedSentence(counted, files - skipped, skipped, place ?? '');
  if (json) io.stdout.write(lineOf(event, view));
  else if (kind === 'receive' && view.text !== undefined) io.stdout.write(shownText(view.text, io));
  else if (!quiet) io.stdout.write(`${said}\n`);
  return 0;
}

/** A text as it was sent; escaped on a terminal. */
function shownText(text: string, { stdout }: Io): string {
  return stdout.isTerminal ? `${harmlessLines(text)}\n` : text;
}

/** Reports these texts as shown, so that the daemon need not keep them. */
export async function noteShown(
  daemon: LocalClient,
  transfers: readonly TransferView[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id, unread } of transfers) {
    if (unread) await daemon.call('control', { transfer: id, action: 'shown' }, { signal });
  }
}

/** The counts of a transfer include files that existed already. */
function receivedSentence(counted: string, files: number, skipped: number, place: string): string {
  const into = `into ${harmless(place)}`;
  if (skipped === 0) return `Received ${counted} ${into}.`;
  const there = `${formatCount(skipped, 'file')} ${skipped === 1 ? 'was' : 'were'} already present`;
  return files <= 0
    ? `Received nothing new ${into}: ${there}.`
    : `Received ${formatCount(files, 'file')} ${into}; ${there}.`;
}

/** The error of a failed transfer. */
export function errorOf({ code, message }: { code: string; message: string }): KeibiError {
  return new KeibiError(isErrorCode(code) ? code : 'INTERNAL', message);
}
