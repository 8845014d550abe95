// SPDX-License-Identifier: MPL-2.0
import type { PeerEvent, RendezvousEvent } from '@keibidrop/peer';
import { type Io, paint } from '../terminal/io.ts';
import { RepaintedLines } from '../terminal/repainted-lines.ts';
import { harmless, shortened } from '../terminal/terminal-text.ts';
import { formatCount, formatRate } from './format.ts';
import { dialableAddress } from './local-address.ts';
import { type ProgressRow, progressLines } from './progress-line.ts';

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
    const { stdout } = this.#io;
    stdout.write(`Code: ${paint(stdout, 'bold', code)}\n`);
    if (this.#options.quiet) return;
    stdout.write(`On the other computer: ${paint(stdout, 'bold', `keibidrop ${verb} ${code}`)}\n`);
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
      lines: (columns, rows) => linesOf(picture, columns, rows),
      plainLine: () => progressLines(picture.plainRows(), Number.POSITIVE_INFINITY).join('\n'),
    });
  }
}

/** One line per row; if they do not fit, the last line sums up the rest. */
function linesOf(picture: ProgressPicture, columns: number, most: number): string[] {
  const rows = picture.rows();
  const shown = rows.length > most ? rows.slice(0, most - 1) : rows;
  const lines = progressLines(shown, columns);
  const rest = rows.slice(shown.length);
  if (rest.length === 0) return lines;
  const rate = rest.reduce((sum, { progress }) => sum + (progress?.bytesPerSecond ?? 0), 0);
  const more = shown.length === 0 ? formatCount(rest.length, picture.noun) : `and ${rest.length} more`;
  return [...lines, shortened(`${more}, ${formatRate(rate)}`, columns)];
}
