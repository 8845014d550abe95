// SPDX-License-Identifier: MPL-2.0

// Reads the first 64 KiB of each of many photos in sequence over a slow link, as a file manager does for thumbnails.
// Compares our mount with sshfs: seconds, and the bytes that the link has carried to the reader.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openLongLink } from './long-link.mjs';
import { openShare, untilMounted } from './mounted.mjs';
import { openSshfs } from './ssh.mjs';

const run = promisify(execFile);
const FILES = 100;
const FILE_BYTES = 2 * 2 ** 20;
const READ_BYTES = 2 ** 16;
const LINK = ['--rate', '20', '--delay', '20'];
const SHARER = '10.99.0.1';
const OURS = 'mount';
const SSHFS = 'sshfs';
/** Limits for the mount, as multiples of the bytes and seconds of sshfs. */
const MOST_BYTES = 1.5;
const MOST_SECONDS = 1;

export async function prepare(workspace) {
  const files = workspace.scaled(FILES);
  const folder = workspace.path('photos');
  await mkdir(folder);
  for (let i = 0; i < files; i++) await workspace.randomFile(join('photos', `${i}.jpg`), FILE_BYTES);
  const link = await openLongLink(LINK);
  const within = (end) => ['nsenter', `--net=/run/netns/${link.at(end).at(-1)}`];
  const share = await openShare(workspace, folder, {
    name: 'far',
    address: SHARER,
    sharePrefix: within('a'),
    mountPrefix: within('b'),
  });
  const sshfs = await openSshfs(workspace, folder, {
    address: SHARER,
    serverPrefix: within('a'),
    clientPrefix: within('b'),
  });
  const systems = [{ name: OURS, ...share }, ...(sshfs.mount ? [{ name: SSHFS, ...sshfs }] : [])];
  const expected = await sumOf(folder, files);
  return {
    title: `the first 64 KiB of each of ${files} files of 2 MiB over 20 Mbit/s, 40 ms`,
    runs: 5,
    cases: systems.map((system) => ({
      name: system.name,
      async run() {
        await system.mount();
        try {
          await untilMounted(system.at);
          // A program that shows a folder lists it first.
          await run('ls', ['-l', system.at]);
          const before = await receivedBytes(within('b'));
          const started = performance.now();
          const sum = await sumOf(system.at, files);
          const seconds = (performance.now() - started) / 1000;
          if (sum !== expected) throw new Error(`${system.name} has read wrong bytes`);
          return { seconds, bytes: (await receivedBytes(within('b'))) - before };
        } finally {
          await system.unmount();
        }
      },
    })),
    missing: sshfs.missing,
    table(_summary, samples) {
      const rows = [...samples].map(([name, taken]) => `| ${name} | ${figuresOf(taken).join(' | ')} |`);
      return ['| case | runs | median s | MB moved |', '|---|---|---|---|', ...rows].join('\n');
    },
    bars(_summary, samples) {
      const [ours, theirs] = [OURS, SSHFS].map((name) => samples.get(name));
      const bar = (what, figure, most) => {
        if (theirs === undefined) return { text: `${what}, bar ${most} x sshfs` };
        const ratio = median(ours.map(figure)) / median(theirs.map(figure));
        return { text: `${what}: ${ratio.toFixed(2)} x sshfs, bar ${most}`, met: ratio <= most };
      };
      return [bar('bytes', ({ bytes }) => bytes, MOST_BYTES), bar('seconds', ({ seconds }) => seconds, MOST_SECONDS)];
    },
    async close() {
      await share.close();
      await sshfs.close();
      await link.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Reads the beginning of each file in sequence, 64 KiB in one call. */
async function sumOf(folder, files) {
  const sum = createHash('sha256');
  const buffer = Buffer.alloc(READ_BYTES);
  for (let i = 0; i < files; i++) {
    const file = await open(join(folder, `${i}.jpg`));
    await file.read(buffer, 0, READ_BYTES, 0);
    await file.close();
    sum.update(buffer);
  }
  return sum.digest('hex');
}

/** Bytes received on the only device of a namespace. */
async function receivedBytes(within) {
  const { stdout } = await run(within[0], [...within.slice(1), 'cat', '/proc/net/dev']);
  return Number(/^\s*lem0:\s*(\d+)/m.exec(stdout)[1]);
}

function figuresOf(taken) {
  return [
    taken.length,
    median(taken.map(({ seconds }) => seconds)).toFixed(2),
    (median(taken.map(({ bytes }) => bytes)) / 1e6).toFixed(1),
  ];
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
