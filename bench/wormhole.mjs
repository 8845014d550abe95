// SPDX-License-Identifier: MPL-2.0

// magic-wormhole with our own mailbox server and transit relay on loopback; the public servers are never used. The two
// commands find each other through the mailbox and then connect directly, as KeibiDrop does.
import { spawnSync } from 'node:child_process';
import { freePort } from './free-port.mjs';
import { assertEqual, findProgram, venv } from './workspace.mjs';

const MODULES = 'wormhole.cli.cli, wormhole_mailbox_server, wormhole_transit_relay';
/** `wormhole`, changed to offer only its loopback address to the other side: no bytes leave the machine. */
const LOOPBACK_WORMHOLE = `
import wormhole.ipaddrs, wormhole.cli.cli
wormhole.ipaddrs.find_addresses = lambda: ['127.0.0.1']
wormhole.cli.cli.wormhole()`;
const CODE = '7-guitar-pencil';

/** One case if bench/build or the Python on PATH has it; else a sentence. */
export async function openWormhole(workspace) {
  const python = [`${venv}/bin/python`, findProgram('python3')].find(hasModules);
  if (!python) {
    const missing = ['magic-wormhole: not installed (PyPI: bench/requirements.txt)'];
    return { missing, cases: () => [], close: async () => {} };
  }
  const mailbox = await startServer(workspace, python, 'wormhole-mailbox', [
    `--channel-db=${workspace.path('mailbox.sqlite')}`,
  ]);
  const relay = await startServer(workspace, python, 'transitrelay', []);
  const env = {
    WORMHOLE_RELAY_URL: `ws://127.0.0.1:${mailbox.port}/v1`,
    WORMHOLE_TRANSIT_HELPER: `tcp:127.0.0.1:${relay.port}`,
  };
  const wormhole = (args) => workspace.start(python, ['-c', LOOPBACK_WORMHOLE, ...args], env);
  return {
    missing: [],
    cases: (source) => [{ name: 'magic-wormhole', run: () => exchange(workspace, wormhole, source) }],
    close: () => Promise.all([mailbox.stop(), relay.stop()]),
  };
}

/** Both commands typed together, to both exited. The servers, which carry no file bytes, do not count. */
async function exchange(workspace, wormhole, source) {
  const out = workspace.path('wormhole-in');
  const started = performance.now();
  const [sent, received] = await Promise.all([
    wormhole(['send', '--hide-progress', '--code', CODE, source]).report(),
    wormhole(['receive', '--hide-progress', '--accept-file', '--output-file', out, CODE]).report(),
  ]);
  const seconds = (performance.now() - started) / 1000;
  await assertEqual(source, out);
  await workspace.discard(out);
  return { seconds, cpu: sent.cpu + received.cpu, rss: Math.max(sent.rss, received.rss) };
}

async function startServer(workspace, python, plugin, options) {
  const port = await freePort();
  const endpoint = `--port=tcp:${port}:interface=127.0.0.1`;
  const server = workspace.start(python, ['-m', 'twisted', plugin, endpoint, ...options]);
  await server.line(new RegExp(`starting on ${port}`));
  return { port, stop: server.stop };
}

function hasModules(python) {
  return python !== undefined && spawnSync(python, ['-c', `import ${MODULES}`]).status === 0;
}
