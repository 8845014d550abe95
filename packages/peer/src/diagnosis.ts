// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { access, mkdtemp, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { announce, createRegistryTransport, runtimeDirectory, tryMulticast } from '@keibidrop/discovery';
import { usableBackend } from '@keibidrop/mount';
import { FrameSealer, hasHardwareAes, libcryptoVersion } from '@keibidrop/native';
import { ALL_SUITES, chooseSuite, KeibiError, type Suite } from '@keibidrop/protocol';
import type { ListenAddress } from '@keibidrop/settings';
import type { ReachOptions } from './api.ts';
import type { Check, Finding } from './finding.ts';
import { ReachDiagnosis, type ReachDiagnosisOptions } from './reach-diagnosis.ts';

const MIN_NODE = [20, 19] as const;
/** The time when this was written: an earlier clock is wrong. */
const CLOCK_FLOOR = Date.UTC(2025, 0, 1);
const CLOCK_SKEW_MS = 2000;
/** Tolerates that a server's clock is slightly off too. */
const SERVER_SKEW_MS = 30_000;
const SEAL_MS = 80;
const LOW_DISK_BYTES = 2 ** 30;
/** The data in flight at 1 Gbit/s and 250 ms. */
const LONG_LINK_BYTES = 32 * 2 ** 20;

/**
 * Runs the checks for sending and receiving on this machine, one after another.
 *
 * A check that throws counts as failed. Leaves nothing behind, and dials only the named servers. Unless discovery is off, it
 * sends one multicast query and asks the router for a port.
 */
export async function* diagnose(
  options: ReachDiagnosisOptions & { savePath: string },
): AsyncGenerator<Check, void, void> {
  const { listen, discovery, savePath, signal } = options;
  const reach = new ReachDiagnosis(options);
  const checks: Readonly<Record<string, () => Finding | Promise<Finding>>> = {
    'Node.js': checkNode,
    'native part': checkNative,
    'sealing speed': checkSealing,
    'runtime directory': checkRuntimeDirectory,
    port: () => checkPort(listen),
    IPv6: () => reach.ipv6(),
    multicast: () => checkMulticast(discovery),
    rendezvous: () => reach.rendezvous(),
    NAT: () => reach.nat(),
    firewall: () => reach.firewall(),
    'port mapping': () => reach.mapping(),
    clock: () => checkClock(reach.clockAheadMs),
    'save path': () => checkSavePath(savePath),
    BBR: checkBbr,
    'socket buffers': checkSocketBuffers,
    FUSE: checkFuse,
  };
  for (const [name, check] of Object.entries(checks)) {
    signal.throwIfAborted();
    yield { name, ...(await findingOf(check)) };
  }
}

async function findingOf(check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    return { status: 'failed', text: error instanceof Error ? error.message : String(error) };
  }
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  const text = `${process.versions.node} on ${process.platform}-${process.arch}`;
  return fits ? { status: 'ok', text } : { status: 'failed', text: `${text}: install ${MIN_NODE.join('.')} or later` };
}

function checkNative(): Finding {
  const hardware = hasHardwareAes();
  const suite = ownSuite(hardware);
  const loads = `loads, with OpenSSL ${libcryptoVersion()}`;
  return hardware
    ? { status: 'ok', text: `${loads}; hardware AES, so ${suite} with a peer that has it too` }
    : { status: 'note', text: `${loads}; no hardware AES, so ${suite}` };
}

/** The suite that two machines like this one would agree on. */
function ownSuite(hardware: boolean): Suite {
  const self = { suites: ALL_SUITES, hardware };
  return chooseSuite(self, self) ?? 'chacha20-poly1305';
}

/** Seals 1 MiB frames for a moment, on one thread, from JavaScript. Slower than the lanes, but of the same order. */
function checkSealing(): Finding {
  const speeds = ALL_SUITES.map((suite) => `${suite} ${(sealSpeed(suite) / 1e9).toFixed(1)} GB/s`);
  return { status: 'ok', text: `${speeds.join(', ')} on one core` };
}

function sealSpeed(suite: Suite): number {
  const sealer = new FrameSealer({ suite, key: new Uint8Array(32) });
  try {
    const chunk = new Uint8Array(2 ** 20);
    sealer.seal(chunk);
    const start = performance.now();
    let bytes = 0;
    let elapsed = 0;
    do {
      sealer.seal(chunk);
      bytes += chunk.length;
      elapsed = performance.now() - start;
    } while (elapsed < SEAL_MS);
    return (bytes / elapsed) * 1000;
  } finally {
    sealer.close();
  }
}

/** Announces a dummy sender and looks for it. If that fails, receivers do not find senders on this machine. */
async function checkRuntimeDirectory(): Promise<Finding> {
  const mailbox = randomBytes(32).toString('hex');
  const withdraw = await announce(mailbox, { host: '127.0.0.1', port: 1 });
  try {
    const found = createRegistryTransport().find(mailbox, { signal: new AbortController().signal });
    for await (const _ of found) return { status: 'ok', text: runtimeDirectory() };
    return {
      status: 'failed',
      text: `${runtimeDirectory()} does not keep what is written to it: name another with XDG_RUNTIME_DIR`,
    };
  } finally {
    await withdraw();
  }
}

function checkPort({ host, port, orAnyPort }: ListenAddress): Promise<Finding> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(new Error(`${error.message}: choose another with --listen`));
      const instead = orAnyPort
        ? '; a sender will take any free one (see keibidrop help firewalls)'
        : ': end its program, or choose another with --listen';
      return resolve({ status: 'warning', text: `${port} is taken${instead}` });
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => resolve({ status: 'ok', text: port === 0 ? 'any free one' : `${port} is free` }));
    });
  });
}

/** Sends a query to each network and waits to receive it itself, which shows that this machine does not block multicast. */
async function checkMulticast(discovery: ReachOptions['discovery']): Promise<Finding> {
  if (discovery === 'off')
    return { status: 'note', text: 'is not used: discovery is off, and --discovery auto uses it' };
  const tried = await tryMulticast(discovery);
  const [heard, deaf] = [true, false].map((works) => tried.filter((each) => each.works === works).map(nameOf));
  if (heard?.length === 0 && deaf?.length === 0) {
    return {
      status: 'note',
      text: 'there is no network: only this machine and --connect lead to a peer (see keibidrop help firewalls)',
    };
  }
  const without = deaf?.length ? `, not on ${deaf.join(', ')}` : '';
  return heard?.length
    ? { status: 'ok', text: `works on ${heard.join(', ')}${without}` }
    : {
        status: 'warning',
        text: `does not work on ${deaf?.join(', ')}: receivers need --connect (see keibidrop help firewalls)`,
      };
}

function nameOf({ interface: name, family }: { interface: string; family: 4 | 6 }): string {
  return `${name} (IPv${family})`;
}

/**
 * File times decide whether a file is up to date, so they and the clock must agree. Contacts find each other by the day
 * (PROTOCOL 10).
 */
async function checkClock(aheadMs: number | undefined): Promise<Finding> {
  const now = Date.now();
  const text = new Date(now).toISOString();
  if (now < CLOCK_FLOOR) return { status: 'failed', text: `${text} is long past: set the clock` };
  if (aheadMs !== undefined && Math.abs(aheadMs) > SERVER_SKEW_MS) {
    const off = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
    return {
      status: 'warning',
      text: `${text} is ${off} the rendezvous: contacts may not find each other, so set the clock`,
    };
  }
  const directory = await mkdtemp(join(runtimeDirectory(), 'doctor-'));
  try {
    const file = join(directory, 'clock');
    await writeFile(file, '');
    const skew = Math.abs((await stat(file)).mtimeMs - Date.now());
    if (skew > CLOCK_SKEW_MS)
      return {
        status: 'warning',
        text: `files get a time ${Math.round(skew / 1000)} s off the clock: set the clock, or that of the file server`,
      };
    return { status: 'ok', text };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function checkSavePath(savePath: string): Promise<Finding> {
  const there = await nearestThere(savePath);
  await access(there, 2 /* W_OK */).catch((reason: Error) => {
    throw new Error(`${reason.message}: choose another folder with --out`);
  });
  const { bavail, bsize } = await statfs(there);
  const gigabytes = (bavail * bsize) / 1e9;
  const text = `${savePath} can be written, ${gigabytes.toFixed(1)} GB free`;
  if (bavail * bsize >= LOW_DISK_BYTES) return { status: 'ok', text };
  return { status: 'warning', text: `${text}: make room, or choose another folder with --out` };
}

/** `path`, or its nearest existing parent. */
async function nearestThere(path: string): Promise<string> {
  const parent = dirname(path);
  const there = await access(path).then(
    () => true,
    () => parent === path,
  );
  return there ? path : nearestThere(parent);
}

/** Long links with some loss are much slower without it. */
async function checkBbr(): Promise<Finding> {
  if (process.platform !== 'linux') return { status: 'note', text: 'is for Linux' };
  const available = await readFile('/proc/sys/net/ipv4/tcp_available_congestion_control', 'utf8');
  return available.split(/\s+/).includes('bbr')
    ? { status: 'ok', text: 'is available' }
    : {
        status: 'note',
        text: `is not available (${available.trim()}): long links are slower; try sudo modprobe tcp_bbr`,
      };
}

/** A connection carries at most this much per round trip. */
async function checkSocketBuffers(): Promise<Finding> {
  if (process.platform !== 'linux') return { status: 'note', text: 'are checked on Linux only' };
  const [read = 0, write = 0] = await Promise.all(['tcp_rmem', 'tcp_wmem'].map(mostBytes));
  const text = `hold ${megabytes(write)} to send, ${megabytes(read)} to receive`;
  if (Math.min(read, write) >= LONG_LINK_BYTES) return { status: 'ok', text };
  const raise = `sudo sysctl -w net.ipv4.tcp_rmem='4096 131072 ${LONG_LINK_BYTES}' net.ipv4.tcp_wmem='4096 16384 ${LONG_LINK_BYTES}'`;
  return { status: 'note', text: `${text}: for fast long links, raise that with ${raise}` };
}

/** The largest size to which the kernel lets a connection's buffer grow. */
async function mostBytes(name: string): Promise<number> {
  const sizes = (await readFile(`/proc/sys/net/ipv4/${name}`, 'utf8')).trim().split(/\s+/);
  return Number(sizes.at(-1));
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** FUSE passthrough: since Linux 6.9, for root. */
function mayPass(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return process.getuid?.() === 0 && (major > 6 || (major === 6 && minor >= 9));
}

async function checkFuse(): Promise<Finding> {
  try {
    const { name } = await usableBackend();
    if (name !== 'native') {
      const slow = `folders can be mounted, by ${name}, which is slower and has faults: install libfuse3`;
      return { status: 'note', text: slow };
    }
    const passed = mayPass() ? ', and the kernel itself reads complete files of read-only mounts' : '';
    return { status: 'ok', text: `folders can be mounted${passed}` };
  } catch (reason) {
    return {
      status: 'note',
      text: `folders cannot be mounted. ${KeibiError.from(reason, 'INTERNAL').message} See keibidrop help mounts.`,
    };
  }
}
