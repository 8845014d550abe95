// SPDX-License-Identifier: MPL-2.0
import { VERSION } from './version.ts';

// Answered before anything else is loaded: starting costs what Node costs.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else {
  void import('./main.ts').then(({ main }) => main());
}
