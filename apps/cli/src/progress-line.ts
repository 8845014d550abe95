// SPDX-License-Identifier: MPL-2.0
import { formatBytes, formatBytesOf, formatClock, formatRate } from './format.ts';
import type { Screen } from './io.ts';

/** What the line shows: one transfer, or the sums over several at once. */
export interface Progress {
  files: number;
  totalFiles: number;
  bytes: number;
  totalBytes: number;
  /** False while the totals still grow. */
  totalsFinal: boolean;
  bytesPerSecond: number;
  /** How the peer is reached, or how many are. */
  via: string;
}

const REPAINT_MS = 100;
const PLAIN_LINE_MS = 5000;

/**
 * One line on stderr that says how far a transfer is.
 *
 * On a terminal it is painted over itself, at most ten times a second; elsewhere a plain line comes every five seconds.
 */
export class ProgressLine {
  #screen: Screen;
  #now: () => number;
  #painted = false;
  #paused = false;
  #dueAt: number;

  constructor(screen: Screen, now: () => number) {
    this.#screen = screen;
    this.#now = now;
    this.#dueAt = screen.isTerminal ? 0 : now() + PLAIN_LINE_MS;
  }

  show(progress: Progress): void {
    const now = this.#now();
    if (this.#paused || now < this.#dueAt) return;
    const screen = this.#screen;
    this.#dueAt = now + (screen.isTerminal ? REPAINT_MS : PLAIN_LINE_MS);
    if (screen.isTerminal) {
      // The last column stays free: some terminals wrap as soon as it is filled.
      screen.write(`\r${progressText(progress, screen.columns() - 1)}\u001b[K`);
      this.#painted = true;
    } else {
      screen.write(`${progressText(progress, Number.POSITIVE_INFINITY)}\n`);
    }
  }

  /** Prints a line that stays, above the one that is repainted. */
  note(text: string): void {
    this.clear();
    this.#screen.write(`${text}\n`);
  }

  /** Takes the line away; the next `show` brings it back at once. */
  clear(): void {
    if (!this.#painted) return;
    this.#screen.write('\r\u001b[K');
    this.#painted = false;
    this.#dueAt = 0;
  }

  /** Keeps the line away while `question` is on the screen. */
  async during<T>(question: () => Promise<T>): Promise<T> {
    this.clear();
    this.#paused = true;
    try {
      return await question();
    } finally {
      this.#paused = false;
    }
  }
}

/** The line in at most `columns` characters: what matters less is left out until it fits. */
export function progressText(progress: Progress, columns: number): string {
  const { files, totalFiles, bytes, totalBytes, totalsFinal, bytesPerSecond, via } = progress;
  const open = totalsFinal ? '' : '+';
  const count = `${files}/${totalFiles}${open} ${totalFiles === 1 ? 'file' : 'files'}`;
  const size = `${formatBytesOf(bytes, totalBytes)}${open}`;
  const share = totalsFinal ? percent(bytes, totalBytes) : formatBytes(bytes);
  const rate = formatRate(bytesPerSecond);
  const eta = etaOf(progress);
  const layouts = [
    totalsFinal ? [count, size, share, rate, eta, via] : [count, size, rate, via],
    totalsFinal ? [count, size, share, rate, eta] : [count, size, rate],
    [size, rate, eta],
    [share, rate, eta],
    [share, rate],
    [share],
  ];
  const lines = layouts.map((fields) => fields.filter((field) => field !== '').join('  '));
  return lines.find((line) => line.length <= columns) ?? share.slice(0, Math.max(0, columns));
}

function percent(bytes: number, totalBytes: number): string {
  // 100 % only when nothing is missing.
  return `${totalBytes === 0 ? 100 : Math.floor((100 * Math.min(bytes, totalBytes)) / totalBytes)}%`;
}

function etaOf({ bytes, totalBytes, totalsFinal, bytesPerSecond }: Progress): string {
  if (!totalsFinal || bytesPerSecond <= 0 || bytes >= totalBytes) return '';
  return `ETA ${formatClock((totalBytes - bytes) / bytesPerSecond)}`;
}
