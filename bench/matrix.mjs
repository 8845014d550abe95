// SPDX-License-Identifier: MPL-2.0

// The matrix: one file of 1, 10, 100 MB and 1 GB, layer by layer, which shows the cost of each layer. Both suites run
// with everything else equal. The control plane runs alone, since it costs the same for any size.
import { rm } from 'node:fs/promises';
import { ceilingCase, memoryCase } from './ceiling.mjs';
import { relayedCase } from './relayed.mjs';
import { copyCase, transferCase } from './trees.mjs';

const SIZES = { '1 MB': 1e6, '10 MB': 1e7, '100 MB': 1e8, '1 GB': 1e9 };
const AES = 'aes-256-gcm';
const CHACHA = 'chacha20-poly1305';

/** Each layer adds to the one above it. A mount would go after the relay. */
const LAYERS = {
  'raw TCP, memory to memory': ({ bytes }) => memoryCase(bytes, 'none'),
  '+ seal and open, AES-256-GCM': ({ bytes }) => memoryCase(bytes, AES),
  '+ seal and open, ChaCha20-Poly1305': ({ bytes }) => memoryCase(bytes, CHACHA),
  '+ read and write files, AES-256-GCM': ({ path }, workspace) => ceilingCase(workspace, '', path, AES),
  '+ read and write files, ChaCha20-Poly1305': ({ path }, workspace) => ceilingCase(workspace, '', path, CHACHA),
  'KeibiDrop, session up to done, AES-256-GCM': ({ path }, workspace) =>
    transferCase(workspace, '', path, { suite: AES }),
  'KeibiDrop, session up to done, ChaCha20-Poly1305': ({ path }, workspace) =>
    transferCase(workspace, '', path, { suite: CHACHA }),
  'KeibiDrop, through a relay, AES-256-GCM': ({ path }, workspace) => relayedCase(workspace, '', path, { suite: AES }),
  'cp, for comparison': ({ path }, workspace) => copyCase(workspace, '', path),
};

const CONTROL_PLANE = {
  'typed to session up': ({ up }) => up,
  'a text, typed to both exited': ({ total }) => total,
};

export async function prepare(workspace) {
  const sources = [];
  for (const [size, amount] of Object.entries(SIZES)) {
    const bytes = workspace.scaled(amount);
    sources.push({ size, bytes, path: await workspace.randomFile(size, bytes) });
  }
  const cells = sources.flatMap((source) =>
    Object.entries(LAYERS).map(([layer, make]) => ({ layer, ...source, name: `${layer}, ${source.size}`, make })),
  );
  const control = Object.entries(CONTROL_PLANE).map(([name, seconds]) => ({
    name,
    run: () => controlPlane(workspace, seconds),
  }));
  return {
    title: 'layer by layer, median MB/s (MB = 1,000,000 bytes)',
    cases: [...cells.map(({ name, make, ...source }) => ({ ...make(source, workspace), name })), ...control],
    table: (summary) => `${layerTable(cells, summary)}\n\n${controlTable(summary)}`,
    bars: () => [],
    records: (samples) => [
      ...cells.map(({ name, layer, bytes }) => ({ layer, bytes, samples: samples.get(name) })),
      ...control.map(({ name }) => ({ layer: `control plane: ${name}`, bytes: 0, samples: samples.get(name) })),
    ],
    close: () => Promise.all(sources.map(({ path }) => rm(path))),
  };
}

/** Two commands meet, shake hands, and send a text of one letter. */
async function controlPlane(workspace, seconds) {
  const exchanged = await workspace.exchange(undefined, workspace.path('in'), { text: 'x' });
  return { seconds: seconds(exchanged), cpu: exchanged.cpu, rss: exchanged.rss };
}

function layerTable(cells, summary) {
  const cell = ({ name, bytes }) => {
    const { median } = summary.get(name);
    const rate = (bytes / 1e6 / median).toFixed(0);
    return median < 0.1 ? `${rate} (${(median * 1000).toFixed(1)} ms)` : rate;
  };
  const lines = Object.keys(LAYERS).map((layer) => {
    const ofLayer = cells.filter((one) => one.layer === layer);
    return `| ${layer} | ${ofLayer.map(cell).join(' | ')} |`;
  });
  const sizes = Object.keys(SIZES);
  return [`| layer | ${sizes.join(' | ')} |`, `|---|${sizes.map(() => '---|').join('')}`, ...lines].join('\n');
}

function controlTable(summary) {
  const lines = Object.keys(CONTROL_PLANE).map((name) => {
    const { median, best } = summary.get(name);
    return `| ${name} | ${(median * 1000).toFixed(0)} | ${(best * 1000).toFixed(0)} |`;
  });
  return ['| control plane alone | median ms | best ms |', '|---|---|---|', ...lines].join('\n');
}
