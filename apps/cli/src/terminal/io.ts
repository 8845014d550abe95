// SPDX-License-Identifier: MPL-2.0
import { createInterface, type Interface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { isatty, type WriteStream } from 'node:tty';
import { completeCode } from '@keibidrop/protocol';
import { type Keyboard, openKeyboard } from './keyboard.ts';
import { askSecretOnTerminal } from './secret-prompt.ts';
import { wrapped } from './terminal-text.ts';

/** Standard output or standard error. */
export interface Screen {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** A terminal on which lines can be painted again. */
  readonly repaints: boolean;
  readonly colour: boolean;
  /** It shows more than ASCII. */
  readonly unicode: boolean;
  /** Current width; 80 without a terminal. */
  columns(): number;
  /** Current height; 24 without a terminal. */
  rows(): number;
  /** Calls `listener` when the size changes, until the returned function is called. */
  onResize(listener: () => void): () => void;
}

/** Everything that a command may use of its process. */
export interface Io {
  /** For results. */
  readonly stdout: Screen;
  /** For progress, questions and errors. */
  readonly stderr: Screen;
  /** Whether a user can answer: standard input and standard error are a terminal. */
  readonly canAsk: boolean;
  /** Prints the question to stderr and resolves with the line typed, '' at the end of input. Rejects with `signal.reason`. */
  ask(question: string): Promise<string>;
  /**
   * As `ask`, for a code: Tab completes its words.
   *
   * @param onAsked  gets a function that prints a line above the question
   */
  askCode(question: string, onAsked?: (tell: (text: string) => void) => void): Promise<string>;
  /** As `ask`, without showing the typed line. */
  askSecret(question: string): Promise<string>;
  /** Reports single key presses until closed; undefined without a terminal. */
  keyboard(onKey: (key: string) => void): Keyboard | undefined;
  /** Raw standard input and output, for a command that talks to another program. */
  readonly pipes: { readonly input: Readable; readonly output: Writable };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The command that starts this program: an interpreter and its arguments. */
  readonly program: readonly string[];
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Calls `listener` on SIGHUP, which then no longer ends the command. */
  onHangUp(listener: () => void): void;
}

const STDIN = 0;

const styles = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** `text` in a style, if the screen shows colours. */
export function paint(screen: Pick<Screen, 'colour'>, style: keyof typeof styles, text: string): string {
  const [on, off] = styles[style];
  return screen.colour && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** The Io of this process. */
export function createProcessIo(signal: AbortSignal): Io {
  // Not `stdin`: it is opened when it is read first, which takes 2 ms.
  const { env, stdout, stderr } = process;
  const io: Io = {
    stdout: screenOf(stdout, env),
    stderr: screenOf(stderr, env),
    canAsk: isatty(STDIN) && stderr.isTTY === true,
    ask: (question) => askOnTerminal(fitted(io.stderr, question), signal),
    askCode: (question, onAsked) =>
      askOnTerminal(question, signal, {
        completer: (line) => [completeCode(line, MOST_COMPLETIONS), line],
        onAsked: (print) => onAsked?.((text) => print(fitted(io.stderr, paint(io.stderr, 'dim', text)))),
      }),
    askSecret: (question) => askSecretOnTerminal(question, { input: process.stdin, output: stderr, signal }),
    get pipes() {
      return { input: process.stdin, output: stdout };
    },
    keyboard: (onKey) => (io.canAsk ? openKeyboard(process.stdin, onKey) : undefined),
    env,
    cwd: process.cwd(),
    program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
    now: () => performance.now(),
    signal,
    onHangUp: (listener) => void process.removeAllListeners('SIGHUP').on('SIGHUP', listener),
  };
  return io;
}

function screenOf(stream: WriteStream, env: NodeJS.ProcessEnv): Screen {
  // A reader that closes early (`| head -1`) must not end a transfer.
  stream.on('error', () => {});
  const isTerminal = stream.isTTY === true;
  const repaints = isTerminal && env.TERM !== 'dumb';
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    repaints,
    colour: repaints && !env.NO_COLOR,
    unicode: showsUnicode(env),
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    onResize: (listener) => {
      stream.on('resize', listener);
      return () => void stream.off('resize', listener);
    },
  };
}

/** By the locale. The console of Linux has a font of 512 characters, and no eighths of blocks among them. */
function showsUnicode(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') && env.TERM !== 'linux';
}

/** `text` for a screen: on a terminal its lines break between words. */
export function fitted(screen: Pick<Screen, 'isTerminal' | 'columns'>, text: string): string {
  // The last column stays free: some terminals wrap once it is filled.
  return screen.isTerminal ? wrapped(text, screen.columns() - 1) : text;
}

const MOST_COMPLETIONS = 20;

interface Editing {
  completer(line: string): [completions: string[], line: string];
  onAsked(print: (text: string) => void): void;
}

async function askOnTerminal(question: string, signal: AbortSignal, editing?: Editing): Promise<string> {
  signal.throwIfAborted();
  const { stdin: input, stderr: output } = process;
  // With `terminal: false` the kernel edits the line and turns Ctrl-C into SIGINT as usual.
  const lines =
    editing === undefined
      ? createInterface({ input, output, terminal: false })
      : createInterface({ input, output, terminal: true, historySize: 0, completer: editing.completer });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = lines.question(question, { signal });
    editing?.onAsked((text) => printAbove(lines, text));
    return await Promise.race([answer, ended]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    lines.close();
    process.stdin.pause();
  }
}

/** Prints a line above a question that is being answered. */
function printAbove(lines: Interface, text: string): void {
  const { rows } = lines.getCursorPos();
  const up = rows > 0 ? `\u001b[${rows}A` : '';
  // `prompt` moves up again by the rows of what has been typed.
  process.stderr.write(`${up}\r\u001b[J${text}\n${'\n'.repeat(rows)}`);
  lines.prompt(true);
}
