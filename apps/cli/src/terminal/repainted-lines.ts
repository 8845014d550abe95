// SPDX-License-Identifier: MPL-2.0
import { stripVTControlCharacters } from 'node:util';
import { fitted, type Screen } from './io.ts';
import { columnsOf } from './terminal-text.ts';

/** The lines to paint, queried at each repaint. */
export interface Picture {
  /** On a terminal: at most `rows` lines of at most `columns` columns. */
  lines(columns: number, rows: number): string[];
  /** Without a terminal. */
  plainLine(): string;
}

const REPAINT_MS = 100;
/** Repaint without events too, so that an outdated rate does not stay on the screen. */
const IDLE_REPAINT_MS = 1000;
const PLAIN_LINE_MS = 5000;
/** Rows of the terminal kept free for earlier output. */
const ROWS_LEFT = 4;

/**
 * Progress lines at the bottom of stderr.
 *
 * On a terminal they are repainted in place, at most ten times a second; elsewhere a plain line appears every five seconds.
 */
export class RepaintedLines {
  #screen: Screen;
  #now: () => number;
  #picture: Picture | undefined;
  /** The painted lines; the cursor is at their end. */
  #painted: string[] = [];
  #paused = false;
  #dueAt: number;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;

  constructor(screen: Screen, now: () => number) {
    this.#screen = screen;
    this.#now = now;
    this.#dueAt = screen.repaints ? 0 : now() + PLAIN_LINE_MS;
  }

  /** Paints `picture` if a repaint is due. */
  show(picture: Picture): void {
    const now = this.#now();
    if (this.#paused || now < this.#dueAt) return;
    this.#picture = picture;
    if (this.#screen.repaints) {
      this.#timer ??= setInterval(() => this.#paint(), IDLE_REPAINT_MS).unref();
      this.#unlisten ??= this.#screen.onResize(() => this.#paint());
      this.#paint();
    } else {
      this.#dueAt = now + PLAIN_LINE_MS;
      this.#screen.write(`${picture.plainLine()}\n`);
    }
  }

  /** Prints a permanent line above the repainted ones. */
  note(text: string): void {
    const begin = this.#painted.length > 0 ? `${this.#upToTheFirst()}\u001b[J` : '';
    this.#painted = [];
    this.#screen.write(`${begin}${fitted(this.#screen, text)}\n`);
    if (begin !== '') this.#paint();
  }

  /** Paints the lines again at once, if they are on the screen. */
  settle(): void {
    if (this.#painted.length > 0 && !this.#paused) this.#paint();
  }

  /** Removes the lines; the next `show` paints them again at once. */
  clear(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#unlisten?.();
    this.#unlisten = undefined;
    if (this.#painted.length === 0) return;
    this.#screen.write(`${this.#upToTheFirst()}\u001b[J`);
    this.#painted = [];
    this.#dueAt = 0;
  }

  /** Hides the lines while `question` is on the screen. */
  async during<T>(question: () => Promise<T>): Promise<T> {
    this.clear();
    this.#paused = true;
    try {
      return await question();
    } finally {
      this.#paused = false;
    }
  }

  #paint(): void {
    const screen = this.#screen;
    // The last column stays free: some terminals wrap once it is filled.
    const lines = this.#picture?.lines(screen.columns() - 1, Math.max(1, screen.rows() - ROWS_LEFT)) ?? [];
    const body = lines.map((line) => `${line}\u001b[K`).join('\n');
    // Clears below, too: the lines before may have been more, or wrapped in a window that is narrower now.
    screen.write(`${this.#upToTheFirst()}${body}\u001b[J`);
    this.#painted = lines;
    this.#dueAt = this.#now() + REPAINT_MS;
  }

  /** Moves the cursor to the start of the first painted line. A window narrowed since has wrapped the lines. */
  #upToTheFirst(): string {
    const columns = Math.max(1, this.#screen.columns());
    const height = this.#painted.reduce((sum, line) => sum + heightOf(line, columns), 0);
    return height > 1 ? `\r\u001b[${height - 1}A` : '\r';
  }
}

function heightOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(columnsOf(stripVTControlCharacters(line)) / columns));
}
