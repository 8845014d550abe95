// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, TransferView } from '@keibidrop/peer';
import { exitCodeOf, isErrorCode, KeibiError } from '@keibidrop/protocol';
import { formatBytes, formatCount } from './format.ts';
import type { Io } from './io.ts';
import { jsonErrorLine, lineOf } from './json-lines.ts';
import { type Progress, progressLines } from './progress-line.ts';
import { RepaintedLines } from './repainted-lines.ts';
import { harmless, harmlessLines } from './terminal-text.ts';

/** How what is waited for is shown. */
export interface Shown {
  json?: boolean | undefined;
  quiet?: boolean | undefined;
}

/**
 * A transfer of the daemon as it is now, and again after each change, for as long as it is on the list.
 *
 * @throws TRANSFER_UNKNOWN once it is not; DAEMON_LOST; `signal.reason`
 */
export async function* viewsOf(
  daemon: LocalClient,
  id: number,
  { signal, progress = false }: { signal: AbortSignal; progress?: boolean },
): AsyncGenerator<TransferView> {
  let view: TransferView | undefined;
  for await (const { transfer, json } of daemon.stream('watch', { progress }, { signal })) {
    const { event, ...fields } = JSON.parse(json) as { event: string } & Partial<TransferView>;
    if (event === 'present' && view === undefined) throw new KeibiError('TRANSFER_UNKNOWN');
    if (transfer !== id) continue;
    if (event === 'removed') throw new KeibiError('TRANSFER_UNKNOWN');
    if (event === 'transfer') view = fields as TransferView;
    else if (event === 'progress' && view !== undefined) view = { ...view, ...fields };
    else continue;
    yield view;
  }
  throw new KeibiError('DAEMON_LOST');
}

/** Shows how far a transfer is until it has ended. Throws as `viewsOf` does. */
export async function untilEnded(daemon: LocalClient, id: number, io: Io, shown: Shown): Promise<TransferView> {
  const lines = new RepaintedLines(io.stderr, io.now);
  try {
    for await (const view of viewsOf(daemon, id, { signal: io.signal, progress: true })) {
      if (view.ended !== undefined) return view;
      if (shown.json || shown.quiet) continue;
      const row = { progress: view as Progress, via: view.path ?? view.state };
      lines.show({
        lines: (columns) => progressLines([row], columns),
        plainLine: () => progressLines([row], Number.POSITIVE_INFINITY).join('\n'),
      });
    }
    throw new KeibiError('DAEMON_LOST');
  } finally {
    lines.clear();
  }
}

/** Prints what became of a transfer, as `event` with --json. @returns  the exit code @throws what it failed of, unless --json */
export function reportEnded(view: TransferView, io: Io, { json, quiet, event }: Shown & { event: string }): number {
  const { kind, state, error, files, bytes, place, skipped } = view;
  if (state === 'cancelled' && error === undefined) throw new KeibiError('CANCELLED', 'It was cancelled.');
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

/** A text as it was sent; on a terminal it cannot act. */
function shownText(text: string, { stdout }: Io): string {
  return stdout.isTerminal ? `${harmlessLines(text)}\n` : text;
}

/** Tells the daemon that these texts were shown, so that it need not keep them. */
export async function noteShown(
  daemon: LocalClient,
  transfers: readonly TransferView[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id, unread } of transfers) {
    if (unread) await daemon.call('control', { transfer: id, action: 'shown' }, { signal });
  }
}

/** The numbers of a transfer count what was there already, too. */
function receivedSentence(counted: string, files: number, skipped: number, place: string): string {
  const into = `into ${harmless(place)}`;
  if (skipped === 0) return `Received ${counted} ${into}.`;
  const there = `${formatCount(skipped, 'file')} ${skipped === 1 ? 'was' : 'were'} there already`;
  return files <= 0
    ? `Received nothing new ${into}: ${there}.`
    : `Received ${formatCount(files, 'file')} ${into}; ${there}.`;
}

/** The error of a transfer that failed. */
export function errorOf({ code, message }: { code: string; message: string }): KeibiError {
  return new KeibiError(isErrorCode(code) ? code : 'INTERNAL', message);
}
