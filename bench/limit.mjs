// SPDX-License-Identifier: MPL-2.0

// limit: --limit on either side: the requested rate beside the measured one, session up to done.
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { transferOnce } from './peers.mjs';
import { assertEqual } from './workspace.mjs';

const MIB = 2 ** 20;
const RATES_MIB = [5, 50, 200];
const SECONDS = 4;
const BAR_RATIO = 0.03;

export async function prepare(workspace) {
  const cases = [];
  const sources = [];
  for (const rate of RATES_MIB) {
    const bytes = workspace.scaled(rate * SECONDS * MIB);
    const source = await workspace.randomFile(`${rate}M`, bytes);
    sources.push(source);
    for (const side of ['send', 'receive']) {
      const options = { [side]: { args: ['--limit', `${rate}M`] } };
      const run = () => transfer(workspace, source, options);
      cases.push({ name: `${side} --limit ${rate}M, ${rate * SECONDS} MiB`, run, rate: rate * MIB, bytes });
    }
  }
  return {
    title: 'a requested rate on either side, session up to done',
    runs: 3,
    warmUp: false,
    cases,
    bars: (summary) =>
      cases.map(({ name, rate, bytes }) => {
        const got = bytes / summary.get(name).median;
        const off = got / rate - 1;
        return {
          text: `${name}: ${(got / MIB).toFixed(2)} MiB/s, ${(100 * off).toFixed(1)} % off, bar 3 %`,
          met: Math.abs(off) <= BAR_RATIO,
        };
      }),
    close: () => Promise.all(sources.map((source) => rm(source))),
  };
}

async function transfer(workspace, source, options) {
  const out = workspace.path('in');
  const { done, cpu, rss } = await transferOnce(workspace, source, out, options);
  await assertEqual(source, `${out}/${basename(source)}`);
  await rm(out, { recursive: true });
  return { seconds: done.seconds, cpu, rss };
}
