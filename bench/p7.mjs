// SPDX-License-Identifier: MPL-2.0

// P7: a file read from its beginning to its end through a mount with an empty cache. On loopback it runs beside the
// same file received, and as root over a link of 500 Mbit/s and a round trip of 24 ms. The same read also runs through
// local mounts of this machine's folder, without a network.
import { execFile } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { transferCase as linkedTransferCase, openLongLink, ratesOf, ratesTable } from './long-link.mjs';
import { openShare, otherMounts } from './mounted.mjs';
import { transferCase } from './trees.mjs';
import { assertEqual } from './workspace.mjs';

const run = promisify(execFile);
const LOOPBACK_BYTES = 2 ** 30;
const LINK_BYTES = 512 * 2 ** 20;
/** A mount fills memory twice: its cache, and the kernel's page cache of the mount. */
const WARM_BYTES = 2.75 * LOOPBACK_BYTES;
const LINK = ['--rate', '500', '--delay', '12'];
const SENDER = '10.99.0.1';
const LOOPBACK_BAR = 0.6;
const LINK_BAR = 0.9;
const RECEIVED = 'received, loopback';
const MOUNTED = 'mount, loopback';
const MOUNTED_AGAIN = 'mount, loopback, read again';
const LINK_RECEIVED = 'received, 500 Mbit/s, 24 ms';
const LINK_MOUNTED = 'mount, 500 Mbit/s, 24 ms';

export async function prepare(workspace) {
  const isRoot = process.getuid() === 0;
  const large = await fileIn(workspace, 'shared', workspace.scaled(LOOPBACK_BYTES));
  const share = await openShare(workspace, large.folder);
  const { mounts, missing } = await otherMounts(workspace, large.folder);
  const linked = isRoot ? await openLinked(workspace) : undefined;
  return {
    title: '1 GiB read through a mount, cold, on loopback; 512 MiB over 500 Mbit/s, 24 ms',
    runs: 5,
    cases: [
      sized(transferCase(workspace, RECEIVED, large.file), large.bytes),
      readCase(workspace, MOUNTED, share, large),
      readCase(workspace, MOUNTED_AGAIN, share, large, { again: true }),
      ...mounts.map((mount) => readCase(workspace, mount.name, mount, large)),
      ...(linked?.cases ?? []),
    ],
    missing: [...missing, ...(isRoot ? [] : ['the long link: needs root, for namespaces'])],
    table: ratesTable,
    bars(_summary, samples) {
      const rates = ratesOf(samples);
      const bar = (mount, received, least) => {
        if (!rates.has(mount)) return { text: `${mount}, bar ${least}` };
        const ratio = rates.get(mount).median / rates.get(received).median;
        return { text: `${mount}: ${ratio.toFixed(3)} x ${received}, bar ${least}`, met: ratio >= least };
      };
      return [bar(MOUNTED, RECEIVED, LOOPBACK_BAR), bar(LINK_MOUNTED, LINK_RECEIVED, LINK_BAR)];
    },
    async close() {
      await share.close();
      await linked?.close();
      await rm(large.folder, { recursive: true });
    },
  };
}

async function openLinked(workspace) {
  const file = await fileIn(workspace, 'far', workspace.scaled(LINK_BYTES));
  const link = await openLongLink(LINK);
  // `ip netns exec` would use a separate mount namespace.
  const within = (end) => ['nsenter', `--net=/run/netns/${link.at(end).at(-1)}`];
  const share = await openShare(workspace, file.folder, {
    name: 'far',
    address: SENDER,
    sharePrefix: within('a'),
    mountPrefix: within('b'),
  });
  return {
    cases: [
      linkedTransferCase(workspace, link, LINK_RECEIVED, file.file),
      readCase(workspace, LINK_MOUNTED, share, file),
    ],
    async close() {
      await share.close();
      console.log(`linkem: ${JSON.stringify(await link.close())}`);
      await rm(file.folder, { recursive: true });
    },
  };
}

async function fileIn(workspace, name, bytes) {
  const folder = workspace.path(`${name}-folder`);
  await run('mkdir', ['-p', folder]);
  const file = join(folder, 'movie.mkv');
  await rename(await workspace.randomFile(`${name}.mkv`, bytes), file);
  return { folder, file, bytes };
}

/** One program reads the file once, through a new mount. `again`: after another program has read it. */
function readCase(workspace, name, mount, { file, bytes }, { again = false } = {}) {
  const path = join(mount.at, basename(file));
  return {
    name,
    async run() {
      await mount.mount();
      try {
        await workspace.warm(WARM_BYTES); // warmed here, since a host takes free memory away after a second or two
        if (again) await read(path);
        const started = performance.now();
        await read(path);
        const seconds = (performance.now() - started) / 1000;
        await assertEqual(file, path);
        return { seconds, bytes };
      } finally {
        await mount.unmount();
      }
    },
  };
}

function read(path) {
  return run('dd', [`if=${path}`, 'of=/dev/null', 'bs=1M']);
}

function sized(one, bytes) {
  return { ...one, run: async () => ({ ...(await one.run()), bytes }) };
}
