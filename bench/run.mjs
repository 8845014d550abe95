// SPDX-License-Identifier: MPL-2.0

// npm run bench -- ROW... [--runs N] [--scale F]     rows: p1 p2 p3 p4 p8 p9 p10, matrix; all of these if none is named
//                                                    over long links, as root, by name only: p5 p6
//                                                    through a mount, by name only: p7 mount
//                                                    endurance, by name only: large tight fair limit leak
//                                                    the page and the window, by name only: render window
// npm run bench -- install                           installs the programs to compare with
//
// Each row runs its cases in turn after one warm-up round, so that all meet the machine in the same state, with warm
// memory. It compares every result byte by byte, prints a Markdown table of medians and bests, and appends a record to
// bench/results/DATE.jsonl.
// --scale 0.01 makes everything a hundred times smaller: a smoke test without a warm-up, whose figures mean nothing and
// are not saved.
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir } from 'node:fs/promises';
import { cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installOthers } from './others.mjs';
import { buildTools, checkout, openWorkspace } from './workspace.mjs';

const ORDINARY_ROWS = ['p1', 'p2', 'p3', 'p4', 'p8', 'p9', 'p10', 'matrix'];
const ROWS = [
  ...ORDINARY_ROWS,
  'p5',
  'p6',
  'p7',
  'mount',
  'first-reads',
  'large',
  'tight',
  'fair',
  'limit',
  'leak',
  'render',
  'window',
];
const RUNS = 7;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string' },
    scale: { type: 'string', default: '1' },
    sparse: { type: 'string', default: '100' },
    files: { type: 'string', default: '1000' },
  },
});
if (positionals.join() === 'install') {
  installOthers();
  process.exit();
}
const runsAsked = values.runs === undefined ? undefined : Number(values.runs);
const scale = Number(values.scale);
const sparseGib = Number(values.sparse);
const files = Number(values.files);
const rows = positionals.length > 0 ? positionals : ORDINARY_ROWS;
const unknown = rows.filter((row) => !ROWS.includes(row));
const runsSensible = runsAsked === undefined || (Number.isInteger(runsAsked) && runsAsked > 0);
if (unknown.length > 0 || !runsSensible || !(scale > 0 && scale <= 1) || !(sparseGib > 0) || !(files >= 1)) {
  console.error(
    `usage: npm run bench -- [${ROWS.join(' | ')}]... [--runs N] [--scale F] [--sparse GIB] [--files N]\n       npm run bench -- install`,
  );
  process.exit(2);
}

execFileSync(`${checkout}scripts/setup`, { stdio: ['ignore', 'ignore', 'inherit'] });
await buildTools();
const workspace = await openWorkspace(scale);
try {
  for (const row of rows) {
    const { prepare } = await import(`./${row}.mjs`);
    const {
      title,
      cases,
      bars,
      close,
      runs: runsUsual = RUNS,
      warmUp = true,
      missing = [],
      table = caseTable,
      records = oneRecord,
    } = await prepare(workspace, { sparseGib, files });
    try {
      const runs = runsAsked ?? runsUsual;
      const samples = await interleave(cases, runs, warmUp && scale === 1);
      const summary = summarise(samples);
      console.log(`\n### ${row.toUpperCase()}: ${title}\n\n${table(summary, samples)}\n`);
      for (const { text, met } of await bars(summary, samples)) console.log(`- ${verdict(met)}: ${text}`);
      for (const program of missing) console.log(`- ${program}; \`npm run bench -- install\` helps`);
      if (scale === 1) await record(records(samples).map((fields) => ({ row, title, runs, ...fields })));
    } finally {
      await close();
    }
  }
} finally {
  await workspace.close();
}

/**
 * Runs one warm-up round unless the row opts out, then `count` rounds of every case in turn. A slow case may ask for
 * fewer `runs`.
 * A case resolves to { seconds, whole?, cpu?, rss? } and more fields for its row. `whole` runs from the commands typed
 * to both exited, if `seconds` is less.
 */
async function interleave(cases, count, warmUp) {
  const samples = new Map(cases.map(({ name }) => [name, []]));
  for (let round = warmUp ? 0 : 1; round <= count; round++) {
    for (const { name, run, runs: fewer = count } of cases) {
      if (round > fewer) continue;
      await workspace.warm();
      const sample = await run();
      if (round > 0) samples.get(name).push(sample);
    }
  }
  return samples;
}

function summarise(samples) {
  const summary = new Map();
  for (const [name, taken] of samples) {
    const column = (of) => taken.map(of).filter((value) => value !== undefined);
    summary.set(name, {
      runs: taken.length,
      median: median(column(({ seconds }) => seconds)),
      best: Math.min(...column(({ seconds }) => seconds)),
      whole: median(taken.map(({ seconds, whole = seconds }) => whole)),
      cpu: median(column(({ cpu }) => cpu)),
      rss: Math.max(...column(({ rss }) => rss)),
    });
  }
  return summary;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function verdict(met) {
  if (met === undefined) return 'not measured';
  return met ? 'met' : 'NOT met';
}

function caseTable(summary) {
  const [first] = summary.values();
  const number = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits) : '–');
  const lines = [...summary].map(([name, { runs: taken, median: mid, best, whole, cpu, rss }]) => {
    const seconds = [number(mid), number(best), number(whole)];
    const cells = [taken, ...seconds, number(cpu, 2), number(rss / 2 ** 20, 0), number(mid / first.median, 2)];
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return [
    '| case | runs | median s | best s | typed to exited s | CPU s, both sides | peak RSS MiB | ratio |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

function oneRecord(samples) {
  return [{ samples: Object.fromEntries(samples) }];
}

/** Appends each of `lines` to today's file, with the data needed to read it later. */
async function record(lines) {
  const results = fileURLToPath(new URL('results/', import.meta.url));
  await mkdir(results, { recursive: true });
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Linux ${release()}, Node ${process.versions.node}`;
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: checkout, encoding: 'utf8' }).trim();
  const date = new Date().toISOString();
  const text = lines.map((line) => `${JSON.stringify({ date, commit, machine, ...line })}\n`).join('');
  await appendFile(`${results}${date.slice(0, 10)}.jsonl`, text);
}
