// SPDX-License-Identifier: MPL-2.0

// `npm test`: every check of the project. `npm run check | test:unit | test:native | test:e2e`: set-up, then that part alone;
// words after `--` choose files of test:unit and test:e2e, as Vitest does. Test runners count their tests, any other check
// counts as one. The last line is `N passed, N failed, N skipped`; the exit code is 0 if nothing failed and every runner ran something.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenProseRules } from './prose-rules.mjs';
import { brokenTreeRules } from './tree-rules.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = mkdtempSync(join(tmpdir(), 'keibidrop-check-'));

const MOST_PRINTED_BYTES = 64 * 2 ** 20;
const CPP_SHARDS = 2;
const MOST_CPP_SECONDS = 600;
const PASSED = { passed: 1, failed: 0, skipped: 0 };
const FAILED = { passed: 0, failed: 1, skipped: 0 };
const SKIPPED = { passed: 0, failed: 0, skipped: 1 };

/** Runs a program in the root of the project, its output shown. True if it exits with 0. */
function succeeds(program, ...args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', ({ message }) => {
      console.log(`${program}: ${message}`);
      resolve(false);
    });
    child.on('close', (status) => resolve(status === 0));
  });
}

/** The same beside others: its output is shown when it ends. */
function captured(program, ...args) {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: root, maxBuffer: MOST_PRINTED_BYTES }, (error, stdout, stderr) => {
      process.stdout.write(stdout + stderr);
      if (error && typeof error.code !== 'number') console.log(`${program}: ${error.message}`);
      resolve({ success: !error, output: stdout });
    });
  });
}

const bin = (name) => join(root, 'node_modules/.bin', name);
const tool = async (name, ...args) => (await captured(bin(name), ...args)).success;
const one = (success) => (success ? PASSED : FAILED);
const installed = (program) => spawnSync(program, ['--version']).status === 0;

function skip(reason) {
  console.log(`SKIPPED: ${reason}`);
  return SKIPPED;
}

/** Adds a failure that the runner's own count does not show: a crash, or no test at all. */
function counted(counts, success) {
  const ran = counts.passed + counts.failed > 0;
  if (!ran) console.log('FAILED: the runner ran no test');
  else if (!success && counts.failed === 0) console.log('FAILED: the runner failed outside of its tests');
  return (success && ran) || counts.failed > 0 ? counts : { ...counts, failed: counts.failed + 1 };
}

function rules(broken) {
  for (const rule of broken) console.log(rule);
  return one(broken.length === 0);
}

/** By TypeScript 7, in a fourth of the time. dependency-cruiser needs TypeScript 5 to read the sources. */
async function types(project) {
  return one((await captured(join(root, 'node_modules/typescript-native/bin/tsc'), '--project', project)).success);
}

async function clangFormat() {
  if (!installed('clang-format')) return skip('clang-format is not installed');
  const files = ['native/src', 'native/test', 'native/fuzz', 'native/tools', 'bench', 'e2e/tools'].flatMap(cppFiles);
  return one((await captured('clang-format', '--dry-run', '-Werror', ...files)).success);
}

function cppFiles(directory) {
  try {
    const files = readdirSync(join(root, directory), { recursive: true });
    // Benchmarks and tests fetch and build foreign code in build/.
    return files.filter((file) => /^(?!build\/).*\.(cc|h)$/.test(file)).map((file) => join(directory, file));
  } catch {
    return []; // a folder that is not there holds no file
  }
}

async function vitest(project, workers) {
  const report = join(reports, `${project}.json`);
  const success = await succeeds(
    bin('vitest'),
    'run',
    '--project',
    project,
    ...files,
    `--maxWorkers=${workers}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  );
  const result = readJson(report);
  // A file that fails outside of its tests, when it is loaded or in a hook, is one failure; its tests count as skipped.
  const unloaded = (result?.testResults ?? []).filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  );
  const counts = {
    passed: result?.numPassedTests ?? 0,
    failed: (result?.numFailedTests ?? 0) + unloaded.length,
    skipped: (result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0),
  };
  return counted(counts, success);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // the runner died before it wrote its report
  }
}

/** The C++ tests under a sanitizer, in a build of their own, shared out between two processes. */
async function cppTests(sanitizer) {
  const build = `native/build-${sanitizer.split(',')[0]}`;
  // The addon too: e2e/sanitizers runs transfers with it.
  const options = ['-DKEIBI_ADDON=ON', '-DKEIBI_TESTS=ON', `-DKEIBI_SANITIZE=${sanitizer}`];
  const built =
    (await succeeds('cmake', '-S', 'native', '-B', build, '-G', 'Ninja', '--log-level=WARNING', ...options)) &&
    (await succeeds('ninja', '-C', build, '--quiet'));
  if (!built) return FAILED;
  const all = await Promise.all(Array.from({ length: CPP_SHARDS }, (_, shard) => runShard(build, shard)));
  const sum = (key) => all.reduce((total, counts) => total + counts[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** One process for many tests: to start each alone takes a sanitizer as long as the tests themselves. */
async function runShard(build, shard) {
  const report = join(reports, `${build.replace('/', '-')}-${shard}.json`);
  const success = await succeeds(
    'env',
    `GTEST_TOTAL_SHARDS=${CPP_SHARDS}`,
    `GTEST_SHARD_INDEX=${shard}`,
    'timeout',
    `${MOST_CPP_SECONDS}`,
    join(root, build, 'keibi_tests'),
    '--gtest_brief=1',
    `--gtest_output=json:${report}`,
  );
  const { tests = 0, failures = 0, errors = 0, testsuites = [] } = readJson(report) ?? {};
  const skipped = testsuites.flatMap((suite) => suite.testsuite).filter(({ result }) => result === 'SKIPPED').length;
  return counted({ passed: tests - failures - errors - skipped, failed: failures + errors, skipped }, success);
}

/**
 * Every fuzz target for 20 seconds from its kept inputs, each counted as one test. It takes the processor time that the
 * tests beside it leave.
 */
async function fuzzed() {
  if (!installed('clang++')) return skip('clang is not installed: the decoders are not fuzzed');
  const { success, output } = await captured('nice', '-n', '19', process.execPath, 'scripts/fuzz.mjs');
  const [, passed, failed] = /^fuzzing: (\d+) passed, (\d+) failed$/m.exec(output) ?? [];
  return counted({ passed: Number(passed ?? 0), failed: Number(failed ?? 0), skipped: 0 }, success);
}

const LAYERED = ['apps', 'packages', 'native/lib', 'proto', 'e2e', 'bench'];

const STATIC = [
  ['types', () => types('.')],
  ['types of the window', () => types('apps/desktop')],
  ['unused code', async () => one(await tool('knip'))],
  ['layers', async () => one(await tool('depcruise', '--config', '.dependency-cruiser.cjs', ...LAYERED))],
  ['format and lint', async () => one(await tool('biome', 'ci', '--error-on-warnings', '.'))],
  ['C++ format', clangFormat],
  ['tree rules', () => rules(brokenTreeRules(root))],
  ['plain English', () => rules(brokenProseRules(root))],
];
const NATIVE = [
  ['C++ tests, address and undefined behaviour', () => cppTests('address,undefined')],
  ['C++ tests, threads', () => cppTests('thread')],
];
const FUZZING = ['fuzzing', fuzzed];
const UNIT = ['unit tests', () => vitest('unit', 3)];
const END_TO_END = ['end to end', () => vitest('e2e', 5)];

/** Each round is a list of checks, and how many of them run at the same time. */
const PARTS = {
  all: [
    [STATIC, 2],
    [[UNIT, ...NATIVE], 2],
    [[END_TO_END, FUZZING], 2],
  ],
  check: [[STATIC, 2]],
  unit: [[[UNIT], 1]],
  native: [[[...NATIVE, FUZZING], 1]],
  e2e: [[[END_TO_END], 1]],
};
const [part = 'all', ...files] = process.argv.slice(2);
if (!(part in PARTS)) {
  console.error(`usage: node scripts/check.mjs [${Object.keys(PARTS).join(' | ')}] [FILE]...`);
  process.exit(2);
}

const results = [];

async function check([name, run]) {
  console.log(`\n== ${name}`);
  const began = performance.now();
  const counts = await run();
  if (counts.failed > 0) console.log(`FAILED: ${name}`);
  results.push({ name, ...counts, seconds: ((performance.now() - began) / 1000).toFixed(1) });
  return counts.failed === 0;
}

async function checkAll(rounds) {
  if (!(await check(['set-up', async () => one(await succeeds('scripts/setup', '--tests'))]))) return; // nothing else can run
  for (const [checks, atOnce] of rounds) {
    const left = checks.values();
    const worker = async () => {
      for (const next of left) await check(next);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }
}

await checkAll(PARTS[part]);
rmSync(reports, { recursive: true });

const sum = (key) => results.reduce((total, result) => total + result[key], 0);
console.log();
console.table(Object.fromEntries(results.map(({ name, ...counts }) => [name, counts])));
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exitCode = sum('failed') === 0 ? 0 : 1;
