// SPDX-License-Identifier: MPL-2.0

// P5: a link of 500 Mbit/s and a round trip of 24 ms, directly and through `keibidrop relay`, beside iperf3 with BBR.
import { rm } from 'node:fs/promises';
import { iperfCase, missingIperf, openLongLink, openSshOver, ratesOf, ratesTable, transferCase } from './long-link.mjs';

const BYTES = 512 * 2 ** 20;
const LINK = ['--rate', '500', '--delay', '12'];
const BAR = 0.98;

export async function prepare(workspace) {
  const bytes = workspace.scaled(BYTES);
  const source = await workspace.randomFile('movie.mkv', bytes);
  const link = await openLongLink(LINK);
  const ssh = await openSshOver(workspace, link, source);
  const iperf = missingIperf().length === 0 ? [iperfCase(workspace, link, 1, bytes)] : [];
  return {
    title: `${bytes / 2 ** 20} MiB over 500 Mbit/s, 24 ms`,
    runs: 5,
    warmUp: false,
    cases: [
      transferCase(workspace, link, 'KeibiDrop', source),
      ...iperf,
      transferCase(workspace, link, 'KeibiDrop through its relay', source, { relayed: true }),
      ...ssh.cases,
    ],
    missing: [...missingIperf(), ...ssh.missing],
    table: ratesTable,
    bars(_summary, samples) {
      const rates = ratesOf(samples);
      const [first] = iperf;
      if (first === undefined) return [];
      return ['KeibiDrop', 'KeibiDrop through its relay'].map((name) => {
        const ratio = rates.get(name).median / rates.get(first.name).median;
        return { text: `${name}: ${ratio.toFixed(3)} x ${first.name}, bar ${BAR}`, met: ratio >= BAR };
      });
    },
    async close() {
      console.log(`linkem: ${JSON.stringify(await link.close())}`);
      await Promise.all([rm(source), ssh.close()]);
    },
  };
}
