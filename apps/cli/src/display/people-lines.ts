// SPDX-License-Identifier: MPL-2.0
import type { PeerEvent, RendezvousEvent } from '@keibidrop/peer';
import { type Io, paint } from '../terminal/io.ts';
import { RepaintedLines } from '../terminal/repainted-lines.ts';
import { harmless, shortened } from '../terminal/terminal-text.ts';
import { codeLines } from './code-lines.ts';
import { formatCount } from './format.ts';
import { dialableAddress } from './local-address.ts';
import { fileLine, type Look, type ProgressRow, plainLines, progressLines, sumOf } from './progress-line.ts';

export interface PeopleLinesOptions {
  quiet?: boolean;
  verbose?: boolean;
  /** Peers cannot dial this machine. */
  relayOnly?: boolean;
}

/** Progress to paint, queried at each repaint. */
export interface ProgressPicture {
  rows(): ProgressRow[];
  /** Without a terminal. */
  plainRows(): ProgressRow[];
  /** Counts the rows that do not fit: `receiver`. */
  noun: string;
}

/** Shows people a send, a receive or a share: notes that stay on stderr, and progress below them. */
export class PeopleLines {
  readonly #io: Io;
  readonly #options: PeopleLinesOptions;
  readonly #lines: RepaintedLines;

  constructor(io: Io, options: PeopleLinesOptions) {
    this.#io = io;
    this.#options = options;
    this.#lines = new RepaintedLines(io.stderr, io.now);
  }

  /** Hides the progress while `question` is on the screen. */
  during<T>(question: () => Promise<T>): Promise<T> {
    return this.#lines.during(question);
  }

  /** Shows the last progress, however soon it came after the one before. */
  settle(): void {
    this.#lines.settle();
  }

  /** Removes the progress. Idempotent. */
  clear(): void {
    this.#lines.clear();
  }

  note(text: string): void {
    if (!this.#options.quiet) this.#lines.note(text);
  }

  dim(text: string): void {
    this.note(paint(this.#io.stderr, 'dim', harmless(text)));
  }

  /** Printed also if quiet. */
  warn(text: string): void {
    this.#lines.note(paint(this.#io.stderr, 'yellow', `Warning: ${harmless(text)}`));
  }

  /** @param verb  the command that takes the code on the other computer */
  code(code: string, verb: string): void {
    this.#io.stdout.write(codeLines(code, verb, this.#io, this.#options.quiet));
  }

  /** `at 192.168.1.7:26431, for --connect`: where peers reach this machine. */
  whereReached(host: string, port: number): string {
    if (this.#options.relayOnly) return 'for a relay';
    const address = dialableAddress(host, port);
    return address === undefined ? `on port ${port}` : `at ${address}, for --connect`;
  }

  warning({ path, message }: Extract<PeerEvent, { type: 'warning' }>): void {
    this.warn(path === undefined ? message : `${path}: ${message}`);
  }

  rendezvous({ state, address, relay, message }: RendezvousEvent): void {
    if (state === 'open') this.dim(`Waiting at the rendezvous ${address}${relay ? ', which relays' : ''}.`);
    else this.warn(`${message} Retrying.`);
  }

  /** Shown if verbose. */
  mapping({ state, address, by, message = '' }: Extract<PeerEvent, { type: 'mapping' }>): void {
    if (!this.#options.verbose) return;
    this.dim(state === 'open' ? `The router forwards ${address} to this computer (${by}).` : message);
  }

  progress(picture: ProgressPicture): void {
    if (this.#options.quiet) return;
    this.#lines.show({
      lines: (columns, rows) => linesOf(picture, { columns, rows, now: this.#io.now() }, this.#io.stderr),
      plainLine: () => plainLines(picture.plainRows()).join('\n'),
    });
  }
}

/** One line per row; the file below a single one, the sum below several. If they do not fit, one line counts the rest. */
function linesOf(picture: ProgressPicture, size: { columns: number; rows: number; now: number }, look: Look): string[] {
  const { columns, now } = size;
  const rows = picture.rows();
  const [only] = rows;
  if (rows.length === 1 && only !== undefined) {
    const lines = progressLines(rows, columns, look, now);
    const file = size.rows > 1 ? fileLine(only, columns, look) : undefined;
    return file === undefined ? lines : [...lines, file];
  }
  const sum = { name: formatCount(rows.length, picture.noun), progress: sumOf(rows), via: '' };
  if (rows.length < size.rows) return progressLines([...rows, sum], columns, look, now);
  const shown = rows.slice(0, Math.max(0, size.rows - 2));
  const more = `${shown.length === 0 ? '' : 'and '}${formatCount(rows.length - shown.length, picture.noun)}${shown.length === 0 ? '' : ' more'}`;
  const lines = progressLines([...shown, sum], columns, look, now);
  return size.rows < 2 ? lines.slice(-1) : lines.toSpliced(-1, 0, shortened(more, columns, look.unicode));
}
