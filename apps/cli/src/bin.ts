#!/usr/bin/env node
// SPDX-License-Identifier: MPL-2.0
import { VERSION } from './version.ts';

// Answered before anything else is loaded: starting costs what Node costs.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else {
  import('./main.ts').then(({ main }) => main(), failedToLoad);
}

/** Not even the error table may be there: a sentence of its own. */
function failedToLoad(reason: unknown): void {
  const { code, message } = reason as { code?: string; message?: string };
  const advice =
    code === 'EMFILE' || code === 'ENFILE'
      ? 'Raise the limit of open files, for example with ulimit -n 4096, and try again.'
      : 'A part of KeibiDrop is missing. Install KeibiDrop again.';
  process.stderr.write(`keibidrop: ${message}: ${advice}\n`);
  process.exitCode = 1;
}
