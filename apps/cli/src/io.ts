// SPDX-License-Identifier: MPL-2.0
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { completeCode } from '@keibidrop/protocol';
import { type Keyboard, openKeyboard } from './keyboard.ts';
import { askSecretOnTerminal } from './secret-prompt.ts';

/** One of the two places to print to. */
export interface Screen {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly colour: boolean;
  /** How wide it is now; 80 if it is no terminal. */
  columns(): number;
  /** How high it is now; 24 if it is no terminal. */
  rows(): number;
}

/** All that a command may touch of the process it runs in. */
export interface Io {
  /** The result. */
  readonly stdout: Screen;
  /** Progress, questions, errors. */
  readonly stderr: Screen;
  /** Whether there is a person to ask: standard input and standard error are a terminal. */
  readonly canAsk: boolean;
  /** Prints the question to stderr and resolves with the line typed, '' at the end of input. Rejects with `signal.reason`. */
  ask(question: string): Promise<string>;
  /** The same for a code, whose words the Tab key completes. */
  askCode(question: string): Promise<string>;
  /** The same for what nobody may read on the screen. */
  askSecret(question: string): Promise<string>;
  /** Hands over single keys of the terminal until closed; undefined where there is no person to press any. */
  keyboard(onKey: (key: string) => void): Keyboard | undefined;
  /** Standard input and output as they are, for a command whose other side is a program. */
  readonly pipes: { readonly input: Readable; readonly output: Writable };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** What runs this program once more: an interpreter and its arguments. */
  readonly program: readonly string[];
  /** Milliseconds of a clock that does not jump. */
  now(): number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Has SIGHUP call this, and end the command no more. */
  onHangUp(listener: () => void): void;
}

const styles = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** `text` in a style, if the screen shows colours. */
export function paint(screen: Screen, style: keyof typeof styles, text: string): string {
  const [on, off] = styles[style];
  return screen.colour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** The Io of this process. */
export function createProcessIo(signal: AbortSignal): Io {
  const { env, stdin, stdout, stderr } = process;
  const io: Io = {
    stdout: screenOf(stdout, env),
    stderr: screenOf(stderr, env),
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    ask: (question) => askOnTerminal(question, signal),
    askCode: (question) => askOnTerminal(question, signal, (line) => [completeCode(line, MOST_COMPLETIONS), line]),
    askSecret: (question) => askSecretOnTerminal(question, { input: stdin, output: stderr, signal }),
    pipes: { input: stdin, output: stdout },
    keyboard: (onKey) => (io.canAsk ? openKeyboard(stdin, onKey) : undefined),
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
  // A reader that goes away (`| head -1`) must not end a transfer.
  stream.on('error', () => {});
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY === true,
    colour: stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
  };
}

const MOST_COMPLETIONS = 20;

type Completer = (line: string) => [completions: string[], line: string];

async function askOnTerminal(question: string, signal: AbortSignal, completer?: Completer): Promise<string> {
  signal.throwIfAborted();
  const { stdin: input, stderr: output } = process;
  // With `terminal: false` the kernel edits the line and turns Ctrl-C into SIGINT, as it does at any other moment.
  const lines =
    completer === undefined
      ? createInterface({ input, output, terminal: false })
      : createInterface({ input, output, terminal: true, historySize: 0, completer });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    lines.close();
    process.stdin.pause();
  }
}
