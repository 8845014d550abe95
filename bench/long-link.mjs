// SPDX-License-Identifier: MPL-2.0

// Shared by the rows over long links: the link (e2e/tools/linkem.cc), and the programs at its two ends.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { startReceive, startSend } from './peers.mjs';
import { openSsh } from './ssh.mjs';
import { assertEqual, findProgram, linkem } from './workspace.mjs';

const run = promisify(execFile);
const MBIT = 1e6;
const SENDER = '10.99.0.1';
const RECEIVER = '10.99.0.2';
const RELAY_PORT = 26431;
const IPERF_PORT = 26432;
/** More than any link here holds. */
const SOCKET_BYTES = 64 * 2 ** 20;
/** scp and rsync take minutes over a link with loss, where KeibiDrop takes seconds. */
const FEW_RUNS = 3;

/**
 * Opens a link between two namespaces; needs root.
 *
 * Socket buffers hold as much as the link does. The namespaces use the machine's default congestion control.
 *
 * @param options  options of linkem: ['--rate', '500', '--delay', '12']
 */
export async function openLongLink(options) {
  if (process.getuid() !== 0) throw new Error('rows over long links need root: they make network namespaces');
  const prefix = `kdbench${process.pid}`;
  const names = ['--create', '--a', `${prefix}-a`, '--b', `${prefix}-b`, '--time', '86400'];
  const child = spawn(linkem, [...names, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const ended = once(child, 'close');
  const ready = createInterface(child.stdout)[Symbol.asyncIterator]().next();
  if ((await ready).value !== 'READY') throw new Error(`linkem failed: ${said}`);
  const at = (end) => ['ip', 'netns', 'exec', `${prefix}-${end}`];
  for (const end of ['a', 'b']) {
    const [command, ...rest] = at(end);
    const sizes = ['rmem=4096 131072', 'wmem=4096 16384'].map((size) => `net.ipv4.tcp_${size} ${SOCKET_BYTES}`);
    await run(command, [...rest, 'sysctl', '-qw', ...sizes]);
  }
  return {
    at,
    /** Resolves to linkem's counters. */
    async close() {
      child.kill();
      await ended;
      return JSON.parse(said.split('\n').find((line) => line.startsWith('{')));
    },
  };
}

/**
 * A transfer from one end to the other: session up to done. `relayed`: through `keibidrop relay` at the sender's end.
 */
export function transferCase(workspace, link, name, source, { relayed = false, env = {}, ...rest } = {}) {
  const out = workspace.path('in');
  return {
    name,
    ...rest,
    async run() {
      const relay = relayed ? await startRelay(workspace, link) : undefined;
      const meeting = relayed ? ['--rendezvous', `${SENDER}:${RELAY_PORT}`, '--relay-only'] : [];
      const listen = relayed ? [] : ['--listen', `${SENDER}:0`];
      const sender = startSend(workspace, source, { prefix: link.at('a'), args: [...listen, ...meeting] });
      const { port } = await sender.said(relayed ? 'rendezvous' : 'waiting');
      const connect = relayed ? meeting : ['--connect', `${SENDER}:${port}`];
      const prefix = [...link.at('b'), 'env', ...Object.entries(env).map(([key, value]) => `${key}=${value}`)];
      const receiver = startReceive(workspace, sender.code, out, { prefix, args: connect });
      const done = await receiver.said('done');
      const [sent, received] = await Promise.all([sender.report(), receiver.report()]);
      await relay?.stop();
      await assertEqual(source, `${out}/${basename(source)}`);
      await workspace.discard(out);
      const cpu = sent.cpu + received.cpu;
      return { seconds: done.seconds, cpu, rss: Math.max(sent.rss, received.rss), bytes: done.bytes };
    },
  };
}

async function startRelay(workspace, link) {
  const relay = workspace.keibidrop(['relay', '--listen', `${SENDER}:${RELAY_PORT}`, '--json'], link.at('a'));
  await relay.line(/"listening"/);
  return relay;
}

/** iperf3 with BBR for the same number of bytes, timed from its open connections; it uses no disk. */
export function iperfCase(workspace, link, streams, bytes) {
  return {
    name: `iperf3, BBR, ${streams} ${streams === 1 ? 'stream' : 'streams'}`,
    async run() {
      const [command, ...rest] = link.at('b');
      const server = workspace.start(command, [...rest, 'iperf3', '-s', '-1', '--forceflush', '-p', `${IPERF_PORT}`]);
      await server.line(/listening/);
      const client = [...link.at('a'), 'iperf3', '-c', RECEIVER, '-p', `${IPERF_PORT}`, '-C', 'bbr', '-J'];
      const { stdout } = await run(client[0], [...client.slice(1), '-P', `${streams}`, '-n', `${bytes}`], {
        maxBuffer: 2 ** 26,
      });
      const { cpu, rss } = await server.report();
      const { sum_received: received } = JSON.parse(stdout).end;
      return { seconds: received.seconds, bytes: received.bytes, cpu, rss };
    },
  };
}

/** scp and rsync, with the machine's default congestion control. `source` may be smaller than that of other cases. */
export async function openSshOver(workspace, link, source) {
  const { missing, cases, close } = await openSsh(workspace, {
    address: RECEIVER,
    serverPrefix: link.at('b'),
    clientPrefix: link.at('a'),
  });
  const { size } = await stat(source);
  const defaultControl = (await readFile('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8')).trim();
  const timed = cases(source).map(({ name, run: copy }) => ({
    name: `${name}, ${(size / 2 ** 20).toFixed(0)} MiB, ${defaultControl}`,
    runs: FEW_RUNS,
    run: async () => ({ ...(await copy()), bytes: size }),
  }));
  return { missing, cases: timed, close };
}

export function missingIperf() {
  return findProgram('iperf3') ? [] : ['iperf3: not installed (Debian: iperf3)'];
}

/** The rates of each case: median and best, in Mbit/s of file bytes. */
export function ratesOf(samples) {
  return new Map(
    [...samples].map(([name, taken]) => {
      const rates = taken.map(({ bytes, seconds }) => (8 * bytes) / seconds / MBIT).sort((a, b) => a - b);
      const middle = rates.length >> 1;
      const median = rates.length % 2 === 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
      return [name, { median, best: rates.at(-1) }];
    }),
  );
}

/** A table of rates, since the cases move different amounts. */
export function ratesTable(summary, samples) {
  const rates = ratesOf(samples);
  const lines = [...rates].map(([name, { median, best }]) => {
    const { runs, median: seconds, cpu, rss } = summary.get(name);
    const figure = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '–');
    const cells = [
      runs,
      figure(median, 0),
      figure(best, 0),
      figure(seconds, 2),
      figure(cpu, 2),
      figure(rss / 2 ** 20, 0),
    ];
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return [
    '| case | runs | median Mbit/s | best Mbit/s | median s | CPU s | peak RSS MiB |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
