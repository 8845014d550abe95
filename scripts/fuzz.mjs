// SPDX-License-Identifier: MPL-2.0

// npm run fuzz [-- --seconds N] [TARGET]...     builds native/fuzz with clang's sanitizers and runs each target N seconds (20)
//
// A run starts from the inputs kept in native/fuzz/corpus/TARGET and writes new ones into native/build-fuzz/corpus/TARGET.
// `--keep` merges those that reach more code into the kept ones. An input that breaks a target is left in
// native/build-fuzz/found. The last line says how many targets passed and failed.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const native = fileURLToPath(new URL('../native', import.meta.url));
const build = join(native, 'build-fuzz');
const AT_ONCE = 2;
const MAX_INPUT_BYTES = 4096;
const MOST_PRINTED_BYTES = 64 * 2 ** 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '20' }, keep: { type: 'boolean', default: false } },
});
const known = readdirSync(join(native, 'fuzz'))
  .filter((name) => /^fuzz_\w+\.cc$/.test(name))
  .map((name) => basename(name, '.cc'));
const targets = positionals.length > 0 ? positionals : known;
const unknown = targets.filter((target) => !known.includes(target));
if (unknown.length > 0 || !(Number(values.seconds) > 0)) {
  console.error(`usage: npm run fuzz -- [--seconds N] [--keep] [${known.join(' | ')}]...`);
  process.exit(2);
}

function succeeds(program, ...args) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) console.error(`${program}: ${error.message}`);
  return status === 0;
}

function run(target, ...args) {
  return new Promise((resolve) => {
    const options = { cwd: build, maxBuffer: MOST_PRINTED_BYTES };
    execFile(join(build, target), args, options, (error, stdout, stderr) => resolve({ error, text: stdout + stderr }));
  });
}

const folder = (...parts) => {
  const path = join(...parts);
  mkdirSync(path, { recursive: true });
  return path;
};
const keptOf = (target) => folder(native, 'fuzz/corpus', target);
const newOf = (target) => folder(build, 'corpus', target);

async function fuzz(target) {
  const limits = [`-max_total_time=${values.seconds}`, `-max_len=${MAX_INPUT_BYTES}`, '-timeout=120'];
  const found = `-artifact_prefix=${folder(build, 'found')}/${target}-`;
  const { error, text } = await run(target, ...limits, found, '-print_final_stats=1', newOf(target), keptOf(target));
  const inputs = Number(/number_of_executed_units: (\d+)/.exec(text)?.[1] ?? 0);
  console.log(`${error || inputs === 0 ? 'FAILED' : 'passed'}: ${target}, ${inputs} inputs`);
  if (error) console.log(text.slice(-8000));
  if (!error && values.keep)
    await run(target, '-merge=1', `-max_len=${MAX_INPUT_BYTES}`, keptOf(target), newOf(target));
  return !error && inputs > 0;
}

const configured = succeeds(
  ...['cmake', '-S', native, '-B', build, '-G', 'Ninja', '--log-level=WARNING', '-DCMAKE_BUILD_TYPE=None'],
  ...['-DCMAKE_C_COMPILER=clang', '-DCMAKE_CXX_COMPILER=clang++', '-DKEIBI_ADDON=OFF', '-DKEIBI_FUZZ=ON'],
);
const built = configured && succeeds('ninja', '-C', build, '--quiet', 'fuzz');
const outcomes = [];
const left = targets.values();
const worker = async () => {
  for (const target of left) outcomes.push(built && (await fuzz(target)));
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const passed = outcomes.filter(Boolean).length;
console.log(`fuzzing: ${passed} passed, ${outcomes.length - passed} failed`);
process.exitCode = passed === targets.length ? 0 : 1;
