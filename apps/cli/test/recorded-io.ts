// SPDX-License-Identifier: MPL-2.0
import { PassThrough, Readable } from 'node:stream';
import type { Io, Screen } from '../src/terminal/io.ts';

/** An Io that records output, answers questions from a list, and has a clock that only `advance` moves. */
export interface RecordedIo extends Io {
  readonly printed: { stdout: string; stderr: string };
  readonly questions: string[];
  advance(ms: number): void;
  interrupt(reason: unknown): void;
}

export interface RecordedIoOptions {
  terminal?: boolean;
  columns?: number;
  rows?: number;
  colour?: boolean;
  unicode?: boolean;
  answers?: string[];
  /** Chunks of standard input. */
  input?: Buffer[];
  env?: Record<string, string>;
  cwd?: string;
}

export function createRecordedIo(options: RecordedIoOptions = {}): RecordedIo {
  const {
    terminal = false,
    columns = 80,
    rows = 24,
    colour = false,
    unicode = true,
    answers = [],
    env = {},
    cwd = process.cwd(),
  } = options;
  const printed = { stdout: '', stderr: '' };
  const questions: string[] = [];
  const interrupt = new AbortController();
  let now = 1_000_000;
  const screen = (name: 'stdout' | 'stderr'): Screen => ({
    write: (text) => {
      printed[name] += text;
    },
    isTerminal: terminal,
    repaints: terminal,
    colour,
    unicode,
    columns: () => columns,
    rows: () => rows,
    onResize: () => () => {},
  });
  const answer = async (question: string) => {
    questions.push(question);
    return answers.shift() ?? '';
  };
  return {
    stdout: screen('stdout'),
    stderr: screen('stderr'),
    canAsk: terminal,
    ask: answer,
    askCode: answer,
    askSecret: answer,
    onHangUp: () => {},
    pipes: { input: Readable.from(options.input ?? []), output: new PassThrough() },
    keyboard: () => undefined,
    env,
    cwd,
    program: [],
    now: () => now,
    signal: interrupt.signal,
    printed,
    questions,
    advance: (ms) => {
      now += ms;
    },
    interrupt: (reason) => interrupt.abort(reason),
  };
}
