#!/usr/bin/env node
// SPDX-License-Identifier: MPL-2.0
import type { main } from './main.ts';
import { VERSION } from './version.ts';

/** Digest of the chunks, defined by scripts/program-files.mjs. */
declare const KEIBIDROP_BUILD: string;

const [, , first = ''] = process.argv;
// Answered before anything else is loaded, so that it starts as fast as Node.
if (first === '--version' || first === '-V') process.stdout.write(`${VERSION}\n`);
else start(/^[a-z]{1,16}$/.test(first) ? first : 'other').catch(failedToLoad);

async function start(command: string): Promise<void> {
  const { Program } = await import('./start/program.ts');
  const program = new Program(__dirname, require, { build: KEIBIDROP_BUILD, command });
  const chunk = program.load('./program.cjs') as { main: typeof main };
  const traceless = process.argv.includes('--incognito');
  void chunk.main(() => traceless || program.saveCode());
}

/** Prints its own sentence: even the error table may have failed to load. */
function failedToLoad(reason: unknown): void {
  const { code, message } = reason as { code?: string; message?: string };
  const advice =
    code === 'EMFILE' || code === 'ENFILE'
      ? 'Raise the limit of open files, for example with ulimit -n 4096, and try again.'
      : 'A part of KeibiDrop is missing. Install KeibiDrop again.';
  process.stderr.write(`keibidrop: ${message}: ${advice}\n`);
  process.exitCode = 1;
}
