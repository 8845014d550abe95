// SPDX-License-Identifier: MPL-2.0

// npm run soak -- mount [STEP…]: what takes minutes, with real programs, each step by itself; STEP is part of the name of a step or of its file
// (e2e/mount/soak). Needs root for some steps; a step whose program is missing is skipped and says what to install.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOAKS = ['mount'];
const LONGEST_MS = 3_600_000;

const [soak, ...steps] = process.argv.slice(2);
if (!SOAKS.includes(soak)) {
  console.error(`usage: npm run soak -- ${SOAKS.join(' | ')} [STEP…]`);
  process.exit(2);
}
const folder = `e2e/${soak}/soak`;
const files = readdirSync(join(root, folder)).filter((name) => name.endsWith('.soak.ts'));
const named = files.filter((file) => steps.includes(file.replace('.soak.ts', '')));
const parts = steps.filter((step) => !files.includes(`${step}.soak.ts`)).map((part) => part.replaceAll(/[^\w ]/g, '.'));
const chosen = named.length > 0 && parts.length === 0 ? named.map((file) => join(folder, file)) : [folder];
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  [
    'run',
    '--project=soak',
    '--maxWorkers=1',
    `--reporter=${join(root, 'scripts/soak-reporter.mjs')}`,
    ...(parts.length > 0 ? ['--testNamePattern', parts.join('|')] : []),
    ...chosen,
  ],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], timeout: LONGEST_MS },
);
process.exitCode = status ?? 1;
