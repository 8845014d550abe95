// SPDX-License-Identifier: MPL-2.0
import type { Screen } from './io.ts';
import { columnsOf } from './terminal-text.ts';

/** What is painted, asked for whenever it is painted. */
export interface Picture {
  /** On a terminal: at most `rows` lines of at most `columns` columns. */
  lines(columns: number, rows: number): string[];
  /** Elsewhere. */
  plainLine(): string;
}

const REPAINT_MS = 100;
/** Also when nothing is reported: a rate that is no more must not stay on the screen. */
const IDLE_REPAINT_MS = 1000;
const PLAIN_LINE_MS = 5000;
/** Lines of the terminal that are left to what was printed before. */
const ROWS_LEFT = 4;

/**
 * The lines of stderr that say how far things are, below everything else.
 *
 * On a terminal they are painted over themselves, at most ten times a second; elsewhere a plain line comes every five seconds.
 */
export class RepaintedLines {
  #screen: Screen;
  #now: () => number;
  #picture: Picture | undefined;
  /** What is on the screen, the cursor at its end. */
  #painted: string[] = [];
  #paused = false;
  #dueAt: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(screen: Screen, now: () => number) {
    this.#screen = screen;
    this.#now = now;
    this.#dueAt = screen.isTerminal ? 0 : now() + PLAIN_LINE_MS;
  }

  /** Paints `picture` if that is due. */
  show(picture: Picture): void {
    const now = this.#now();
    if (this.#paused || now < this.#dueAt) return;
    this.#picture = picture;
    if (this.#screen.isTerminal) {
      this.#timer ??= setInterval(() => this.#paint(), IDLE_REPAINT_MS).unref();
      this.#paint();
    } else {
      this.#dueAt = now + PLAIN_LINE_MS;
      this.#screen.write(`${picture.plainLine()}\n`);
    }
  }

  /** Prints a line that stays, above those that are repainted. */
  note(text: string): void {
    const begin = this.#painted.length > 0 ? `${this.#upToTheFirst()}\u001b[J` : '';
    this.#painted = [];
    this.#screen.write(`${begin}${text}\n`);
    if (begin !== '') this.#paint();
  }

  /** Takes the lines away until the next `show`, which brings them back at once. */
  clear(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#painted.length === 0) return;
    this.#screen.write(`${this.#upToTheFirst()}\u001b[J`);
    this.#painted = [];
    this.#dueAt = 0;
  }

  /** Keeps the lines away while `question` is on the screen. */
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
    // The last column stays free: some terminals wrap as soon as it is filled.
    const lines = this.#picture?.lines(screen.columns() - 1, Math.max(1, screen.rows() - ROWS_LEFT)) ?? [];
    const body = lines.map((line) => `${line}\u001b[K`).join('\n');
    const rest = lines.length < this.#painted.length ? '\u001b[J' : '';
    screen.write(`${this.#upToTheFirst()}${body}${rest}`);
    this.#painted = lines;
    this.#dueAt = this.#now() + REPAINT_MS;
  }

  /** Moves the cursor to where the first painted line begins; a window made narrower since has wrapped them. */
  #upToTheFirst(): string {
    const columns = Math.max(1, this.#screen.columns());
    const height = this.#painted.reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line) / columns)), 0);
    return height > 1 ? `\r\u001b[${height - 1}A` : '\r';
  }
}
