// SPDX-License-Identifier: MPL-2.0

// P6: a link of 1 Gbit/s, a round trip of 180 ms and 0.5 % loss: one file beside iperf3 with BBR and 8 streams, and a folder
// of files of 10 MiB beside one file of its size.
import { rm } from 'node:fs/promises';
import { iperfCase, missingIperf, openLongLink, openSshOver, ratesOf, ratesTable, transferCase } from './long-link.mjs';

const FILE_BYTES = 10 * 2 ** 20;
const LINK = ['--rate', '1000', '--delay', '90', '--loss', '0.5'];
/** Bytes that scp moves in a minute at this loss. */
const SSH_BYTES = 32 * 2 ** 20;
const BAR = 0.95;
const FOLDER_BAR = 0.97;
const [ONE, FOLDER] = ['KeibiDrop, one file', 'KeibiDrop, a folder of 10 MiB files'];

/** @param options.files  how many files of 10 MiB the folder has; the single file has the same size */
export async function prepare(workspace, { files }) {
  const filesEach = Math.max(1, Math.round(workspace.scaled(files) / 10));
  const bytes = 10 * filesEach * FILE_BYTES;
  const source = await workspace.randomFile('movie.mkv', bytes);
  const small = await workspace.randomFile('small.mkv', workspace.scaled(SSH_BYTES));
  const tree = await workspace.randomTree('folder', { folders: 10, filesEach, bytes: FILE_BYTES });
  const link = await openLongLink(LINK);
  const ssh = await openSshOver(workspace, link, small);
  const iperf = missingIperf().length === 0 ? [8, 1].map((streams) => iperfCase(workspace, link, streams, bytes)) : [];
  return {
    title: `${bytes / 2 ** 20} MiB over 1 Gbit/s, 180 ms, 0.5 % loss`,
    runs: 3,
    warmUp: false,
    cases: [
      transferCase(workspace, link, ONE, source),
      ...iperf,
      transferCase(workspace, link, FOLDER, tree),
      ...ssh.cases,
    ],
    missing: [...missingIperf(), ...ssh.missing],
    table: ratesTable,
    bars(_summary, samples) {
      const rates = ratesOf(samples);
      const folder = rates.get(FOLDER).median / rates.get(ONE).median;
      const bars = [
        { text: `the folder: ${folder.toFixed(3)} x the file, bar ${FOLDER_BAR}`, met: folder >= FOLDER_BAR },
      ];
      const [eight] = iperf;
      if (eight === undefined) return bars;
      const ratio = rates.get(ONE).median / rates.get(eight.name).median;
      return [{ text: `${ratio.toFixed(3)} x ${eight.name}, bar ${BAR}`, met: ratio >= BAR }, ...bars];
    },
    async close() {
      console.log(`linkem: ${JSON.stringify(await link.close())}`);
      await Promise.all([rm(source), rm(small), rm(tree, { recursive: true }), ssh.close()]);
    },
  };
}
