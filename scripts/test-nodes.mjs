// SPDX-License-Identifier: MPL-2.0

// `npm run test:nodes`: a part of the end to end tests with each supported major version of Node, the oldest first.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = ['20.19.0', '22.12.0', '24.0.0'];
// Each way that the addon, the bundle and the daemon are used.
const TESTS = [
  'e2e/packages/installed.test.ts',
  'e2e/transfer/streams.test.ts',
  'e2e/transfer/suites.test.ts',
  'e2e/people/page.test.ts',
  'e2e/reach/reconnect.test.ts',
  'e2e/mount/first-reads.test.ts',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = mkdtempSync(join(tmpdir(), 'keibidrop-nodes-'));
const wanted = process.argv.length > 2 ? process.argv.slice(2) : VERSIONS;

function testWith(version) {
  const fetched = spawnSync(join(root, 'scripts/fetch-node'), [version], { encoding: 'utf8' });
  if (fetched.status !== 0) return { passed: 0, failed: 1, skipped: 0, note: fetched.stderr.trim() };
  const node = fetched.stdout.trim();
  const report = join(reports, `${version}.json`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const options = ['--project', 'e2e', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const began = performance.now();
  const { status } = spawnSync(node, [vitest, 'run', ...options, ...TESTS], {
    cwd: root,
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = numFailedTests + (status !== 0 && numFailedTests === 0 ? 1 : 0);
  return { passed: numPassedTests, failed, skipped: numPendingTests, seconds };
}

const results = Object.fromEntries(wanted.map((version) => [`Node ${version}`, testWith(version)]));
rmSync(reports, { recursive: true });
console.table(results);
process.exitCode = Object.values(results).every(({ failed, passed }) => failed === 0 && passed > 0) ? 0 : 1;
