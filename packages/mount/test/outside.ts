// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a program says that uses a mount of this process: it must never be this process itself, which has to answer. */
export async function inProcess(program: string, ...words: string[]): Promise<string> {
  const { stdout } = await run(program, words, { maxBuffer: 2 ** 28 });
  return stdout;
}
