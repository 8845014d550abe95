// SPDX-License-Identifier: MPL-2.0

// large: files far larger than any buffer, one real and one sparse, with the memory of both sides sampled throughout.
import { open, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { transferOnce } from './peers.mjs';
import { thirds, watchResident } from './resident.mjs';
import { assertEqual } from './workspace.mjs';

const GIB = 2 ** 30;
const REAL_GIB = 20;
/** Data in each GiB of the sparse file. */
const ISLAND_BYTES = 2 ** 20;
const SHORTEST_WATCHED_S = 2;
const BAR_GROWTH_BYTES = 8 * 2 ** 20;
const BAR_RSS_BYTES = 160 * 2 ** 20;

export async function prepare(workspace, { sparseGib }) {
  const real = await workspace.randomFile('real', workspace.scaled(REAL_GIB * GIB));
  const sparse = await sparseFile(workspace.path('sparse'), workspace.scaled(sparseGib * GIB));
  const cases = [
    { name: `KeibiDrop, ${REAL_GIB} GiB of random bytes`, run: () => send(workspace, real) },
    { name: `KeibiDrop, ${sparseGib} GiB sparse, 1 MiB of data in each`, run: () => send(workspace, sparse) },
  ];
  return {
    title: 'files larger than memory, session up to done',
    runs: 1,
    warmUp: false,
    cases,
    bars: (_, samples) => cases.flatMap(({ name }) => bars(name, samples.get(name).at(-1))),
    close: () => Promise.all([rm(real), rm(sparse)]),
  };
}

function bars(name, { seconds, rss, resident, allocated, allocatedThere }) {
  // A shorter run shows only the start of Node.
  const watched = seconds < SHORTEST_WATCHED_S ? [] : Object.entries(resident);
  const flat = watched.map(([side, [start, middle, end]]) => ({
    text: `${name}: the ${side}'s RSS at start, middle and end ${[start, middle, end].map(mebibytes).join(', ')} MiB, bar + 8`,
    met: end <= start + BAR_GROWTH_BYTES && middle <= start + BAR_GROWTH_BYTES,
  }));
  return [
    ...flat,
    { text: `${name}: ${mebibytes(rss)} MiB peak RSS of one process, bar 160`, met: rss <= BAR_RSS_BYTES },
    {
      text: `${name}: ${mebibytes(allocatedThere)} MiB on the receiver's disk, ${mebibytes(allocated)} on the sender's, bar + 1 %`,
      met: allocatedThere <= 1.01 * allocated + ISLAND_BYTES,
    },
  ];
}

function mebibytes(bytes) {
  return (bytes / 2 ** 20).toFixed(0);
}

async function send(workspace, source) {
  const out = workspace.path('in');
  let resident;
  const watch = ({ sender, receiver }) => {
    resident = { sender: watchResident(sender), receiver: watchResident(receiver) };
  };
  const { done, cpu, rss } = await transferOnce(workspace, source, out, { watch });
  const target = `${out}/${basename(source)}`;
  const [allocated, allocatedThere] = await Promise.all([allocatedBy(source), allocatedBy(target)]);
  await assertEqual(source, target);
  await rm(out, { recursive: true });
  const { sender, receiver } = resident;
  return {
    seconds: done.seconds,
    cpu,
    rss,
    allocated,
    allocatedThere,
    resident: { sender: thirds(sender), receiver: thirds(receiver) },
  };
}

async function allocatedBy(path) {
  const { blocks } = await stat(path);
  return blocks * 512;
}

/** Makes a file that is a hole except for data at the start of each GiB and at its very end. */
async function sparseFile(path, bytes) {
  const island = Buffer.alloc(Math.min(ISLAND_BYTES, bytes), 'keibidrop');
  const file = await open(path, 'w');
  for (let at = 0; at < bytes - island.length; at += GIB) await file.write(island, 0, island.length, at);
  await file.write(island, 0, island.length, bytes - island.length);
  await file.sync();
  await file.close();
  return path;
}
