// SPDX-License-Identifier: MPL-2.0

// A transfer through our own relay on loopback. Each run has a new relay, started before the clock.
import { basename } from 'node:path';
import { assertEqual } from './workspace.mjs';

/** Like transferCase; `relayCpu` is the relay's CPU seconds for the transfer, without its start. */
export function relayedCase(workspace, name, source, options = {}) {
  const out = workspace.path('in');
  return {
    name,
    async run() {
      const relay = await startRelay(workspace);
      try {
        const before = await relay.cpuSeconds();
        const args = ['--rendezvous', relay.address, '--relay-only'];
        const { done, path, total, cpu, rss } = await workspace.exchange(source, out, { ...options, args });
        const relayCpu = (await relay.cpuSeconds()) - before;
        if (path !== 'relay') throw new Error(`the path was ${path}`);
        await assertEqual(source, `${out}/${basename(source)}`);
        await workspace.discard(out);
        return { seconds: done.seconds, whole: total, cpu, rss, relayCpu };
      } finally {
        await relay.stop();
      }
    },
  };
}

async function startRelay(workspace) {
  const relay = workspace.keibidrop(['relay', '--json', '--quiet', '--listen', '127.0.0.1:0']);
  const { port } = JSON.parse(await relay.line(/"listening"/));
  const address = `127.0.0.1:${port}`;
  return {
    address,
    stop: relay.stop,
    async cpuSeconds() {
      const metrics = await (await fetch(`http://${address}/metrics`)).text();
      return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)[1]);
    },
  };
}
