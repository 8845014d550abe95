// SPDX-License-Identifier: MPL-2.0

// Small calls through a mount, the local disk and other mounts: reads and writes of 4 KiB at random places, names, and
// git. Each case uses a new mount and compares the files on the disk afterwards.
import { execFile } from 'node:child_process';
import { copyFile, link, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openShare, otherMounts } from './mounted.mjs';
import { assertEqual, small } from './workspace.mjs';

const run = promisify(execFile);
const MIB = 2 ** 20;
const READ_BYTES = 512 * MIB;
const WRITTEN_BYTES = 256 * MIB;
const COLD_READS = 2000;
const WARM_READS = 20_000;
const WRITES = 4000;
const NAMES = 10_000;
const REPOSITORY = { folders: 60, filesEach: 50, leastBytes: 500, mostBytes: 12_500 };
const OURS = 'mount, loopback';
const BIG_READS = /big reads/;

export async function prepare(workspace) {
  // A shared folder is watched; the other systems must not pay for that.
  const shared = await folderIn(workspace, 'shared');
  const local = await folderIn(workspace, 'local');
  await fillFolders(workspace, [shared, local]);
  const repository = await makeRepository(workspace);
  const share = await openShare(workspace, shared.path);
  const { mounts, missing } = await otherMounts(workspace, local.path);
  const systems = [
    { name: 'local disk', at: local.path, folder: local, mount: async () => {}, unmount: async () => {} },
    { name: OURS, at: share.at, folder: shared, mount: () => share.mount(), unmount: () => share.unmount() },
    ...mounts.filter(({ name }) => !BIG_READS.test(name)).map((mount) => ({ ...mount, folder: local })),
  ];
  const workloads = { reads, writes, names, git };
  const cases = Object.entries(workloads).flatMap(([name, work]) =>
    systems.map((system) => ({
      name: `${name}: ${system.name}`,
      run: async () => {
        const figures = await work(workspace, system, repository);
        return {
          system: system.name,
          seconds: Object.values(figures).reduce((sum, { seconds }) => sum + seconds, 0),
          figures,
        };
      },
    })),
  );
  return {
    title: 'small calls through a mount, the local disk and other mounts',
    runs: 5,
    cases,
    missing,
    table: (_summary, samples) => figuresTable(samples),
    bars: () => [],
    async close() {
      await share.close();
      for (const { path } of [shared, local]) await rm(path, { recursive: true });
    },
  };
}

/** The writes into a folder are compared with the same writes into a local reference file. */
async function folderIn(workspace, name) {
  const path = workspace.path(`${name}-small`);
  await mkdir(path);
  return { path, reference: workspace.path(`${name}-reference`) };
}

async function fillFolders(workspace, folders) {
  const source = await workspace.randomFile('read.bin', workspace.scaled(READ_BYTES));
  const written = await workspace.randomFile('written.bin', workspace.scaled(WRITTEN_BYTES));
  for (const { path, reference } of folders) {
    await link(source, join(path, 'read.bin'));
    await copyFile(written, join(path, 'written.bin'));
    await copyFile(written, reference);
  }
}

/** `git` runs it without any user configuration. */
async function makeRepository(workspace) {
  const at = workspace.path('repository');
  const { filesEach, leastBytes, mostBytes } = REPOSITORY;
  const folders = workspace.scaled(REPOSITORY.folders);
  await mkdir(at);
  const env = {
    ...process.env,
    HOME: at,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'bench',
    GIT_AUTHOR_EMAIL: 'bench@localhost',
    GIT_COMMITTER_NAME: 'bench',
    GIT_COMMITTER_EMAIL: 'bench@localhost',
  };
  const runGit = (...words) => run('git', words, { env, maxBuffer: 64 * MIB });
  for (let folder = 0; folder < folders; folder++) {
    await mkdir(join(at, `module${folder}`));
    for (let i = 0; i < filesEach; i++) {
      const bytes = leastBytes + ((i * 7919) % (mostBytes - leastBytes));
      const line = `module ${folder}, file ${i}: ${Math.random()}\n`;
      await writeFile(join(at, `module${folder}`, `file${i}.txt`), line.repeat(Math.ceil(bytes / line.length)));
    }
  }
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-q', '-m', 'all'],
    ['gc', '-q'],
  ])
    await runGit('-C', at, ...words);
  return { at, files: folders * filesEach, runGit, clones: 0 };
}

async function reads(workspace, system) {
  const path = join(system.at, 'read.bin');
  const cold = { count: workspace.scaled(COLD_READS), seed: drawSeed() };
  const warm = { count: workspace.scaled(WARM_READS), seed: drawSeed() };
  await small('drop', join(system.folder.path, 'read.bin'));
  const read = async ({ count, seed }, from = path) => ({ ...(await small('read', from, count, seed)), count });
  const [first, second] = await mounted(system, async () => {
    const coldly = await read(cold);
    await run('dd', [`if=${path}`, 'of=/dev/null', 'bs=1M']);
    return [coldly, await read(warm)];
  });
  for (const [asked, answer] of [
    [cold, first],
    [warm, second],
  ]) {
    const { sum } = await read(asked, join(system.folder.path, 'read.bin'));
    if (sum !== answer.sum) throw new Error(`${system.name} has read wrong bytes`);
  }
  return { 'random reads of 4 KiB, cold': first, 'random reads of 4 KiB, file read before': second };
}

async function writes(workspace, system) {
  const count = workspace.scaled(WRITES);
  const figures = {};
  for (const [label, what] of [
    ['random writes of 4 KiB', 'write'],
    ['random writes of 4 KiB, fsync at the end', 'write-sync'],
  ]) {
    const seed = drawSeed();
    const { seconds } = await mounted(system, () => small(what, join(system.at, 'written.bin'), count, seed));
    await small('write', system.folder.reference, count, seed);
    await assertEqual(system.folder.reference, join(system.folder.path, 'written.bin'));
    figures[label] = { seconds, count };
  }
  return figures;
}

async function names(workspace, system) {
  const count = workspace.scaled(NAMES);
  const onDisk = join(system.folder.path, 'names');
  const at = join(system.at, 'names');
  const expect = async (there) => {
    const found = (await readdir(onDisk)).length;
    if (found !== there) throw new Error(`${system.name}: ${found} files instead of ${there}`);
  };
  await mkdir(onDisk);
  const created = await mounted(system, () => small('create', at, count));
  await expect(count);
  const [looked, again, unlinked] = await mounted(system, async () => [
    await small('stat', at, count),
    await small('stat', at, count),
    await small('unlink', at, count),
  ]);
  await expect(0);
  await rm(onDisk, { recursive: true });
  return {
    [`${count} creates`]: created,
    [`${count} stats, mounted anew`]: looked,
    [`${count} stats, again`]: again,
    [`${count} unlinks`]: unlinked,
  };
}

async function git(workspace, system, repository) {
  const name = `clone-${++repository.clones}`;
  const at = join(system.at, name);
  const timed = async (...words) => {
    const started = performance.now();
    const { stdout } = await repository.runGit(...words);
    if (stdout !== '') throw new Error(`git ${words.join(' ')} says: ${stdout}`);
    return { seconds: (performance.now() - started) / 1000 };
  };
  const cloned = await mounted(system, () => timed('clone', '-q', '--no-hardlinks', repository.at, at));
  const [status, again] = await mounted(system, async () => [
    await timed('-C', at, 'status', '--porcelain'),
    await timed('-C', at, 'status', '--porcelain'),
  ]);
  const onDisk = join(system.folder.path, name);
  await run('diff', ['-r', '--no-dereference', '--exclude=.git', repository.at, onDisk]);
  await workspace.discard(onDisk);
  return {
    [`git clone of ${repository.files} files`]: cloned,
    'git status, mounted anew': status,
    'git status, again': again,
  };
}

async function mounted(system, work) {
  await system.mount();
  try {
    return await work();
  } finally {
    await system.unmount();
  }
}

function drawSeed() {
  return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}

/** Calls in rows, systems in columns: calls a second if they were counted, else seconds; medians. */
function figuresTable(samples) {
  const taken = [...samples.values()].flat();
  const systems = [...new Set(taken.map(({ system }) => system))];
  const labels = [...new Set(taken.flatMap(({ figures }) => Object.keys(figures)))];
  const cell = (label, system) => {
    const found = taken.filter((one) => one.system === system).flatMap(({ figures }) => figures[label] ?? []);
    const values = found.map(({ seconds, count }) => (count === undefined ? seconds : count / seconds));
    const middle = values.toSorted((a, b) => a - b)[values.length >> 1];
    if (middle === undefined) return '–';
    return found[0].count === undefined ? `${middle.toFixed(3)} s` : `${Math.round(middle)} /s`;
  };
  return [
    `| what | ${systems.join(' | ')} |`,
    `|---|${'---|'.repeat(systems.length)}`,
    ...labels.map((label) => `| ${label} | ${systems.map((system) => cell(label, system)).join(' | ')} |`),
  ].join('\n');
}
