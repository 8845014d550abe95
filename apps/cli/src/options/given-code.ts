// SPDX-License-Identifier: MPL-2.0
import type { Readable } from 'node:stream';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';

/** Longer than any code: 9 digits and 16 words of 32 characters, with dashes. */
const MAX_CODE_BYTES = 1024;
const MOST_TRIES = 3;
/** Room for the hint and for a code on one line. */
const WIDE_COLUMNS = 60;

/**
 * The code when the arguments have none: from standard input for `-`, else from KD_CODE, else typed on the terminal.
 *
 * Every user of the machine can read the arguments of a process, but none of these three.
 *
 * @param onAsked  as for `Io.askCode`
 * @throws CODE_MALFORMED; USAGE if there is none; `io.signal.reason`
 */
export async function givenCode(
  fromStdin: boolean,
  io: Io,
  verb = 'receive',
  onAsked?: Parameters<Io['askCode']>[1],
): Promise<Code> {
  if (fromStdin) return parseCode(await firstLine(io.pipes.input, io.signal));
  const { KD_CODE: named } = io.env;
  if (named) return parseCode(named);
  assertCodeComes(fromStdin, io, verb);
  for (let left = MOST_TRIES - 1; ; left--) {
    const hint = io.stderr.columns() < WIDE_COLUMNS ? '' : ' (Tab completes words)';
    const typed = await io.askCode(`Code${hint}: `, onAsked);
    try {
      return parseCode(typed);
    } catch (reason) {
      if (left === 0 || typed === '') throw reason;
      io.stderr.write(`${(reason as KeibiError).message}\n`);
    }
  }
}

/** @throws USAGE if `givenCode` has no source for a code */
export function assertCodeComes(
  fromStdin: boolean,
  { env, canAsk }: Pick<Io, 'env' | 'canAsk'>,
  verb = 'receive',
): void {
  if (fromStdin || env.KD_CODE || canAsk) return;
  throw new KeibiError(
    'USAGE',
    `Give the code: on standard input with -, in KD_CODE, or as in keibidrop ${verb} 7-guitar-pencil`,
  );
}

/** Reads a whole stream as text. @throws TRANSFER_LIMIT_EXCEEDED above `limit` bytes */
export async function textOf(input: Readable, limit: number, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input) {
    signal.throwIfAborted();
    bytes += piece.length;
    if (bytes > limit) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'The text is too long. Send it as a file.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function firstLine(input: Readable, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const piece of input) {
    signal.throwIfAborted();
    text += piece;
    if (text.includes('\n') || text.length > MAX_CODE_BYTES) break;
  }
  return text.split('\n', 1)[0] ?? '';
}
