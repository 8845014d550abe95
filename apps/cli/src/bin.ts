#!/usr/bin/env node
// SPDX-License-Identifier: MPL-2.0
import { VERSION } from './version.ts';

// Answered before anything else is loaded, so that it starts as fast as Node.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else {
  import('./main.ts').then(({ main }) => main(), failedToLoad);
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
