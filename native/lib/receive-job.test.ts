// SPDX-License-Identifier: MPL-2.0
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Collision, type LaneKeys, Listener, ReceiveJob, SendJob } from './index.ts';

const KEYS: LaneKeys = { sessionId: new Uint8Array(16), laneSecret: new Uint8Array(32), suite: 'chacha20-poly1305' };

let folder: string;
let out: string;
const closing: { close(): Promise<void> }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keibi-'));
  out = join(folder, 'out');
});

afterEach(async () => {
  for (const thing of closing.splice(0)) await thing.close();
  rmSync(folder, { recursive: true });
});

function receive(options: { collisions?: Collision; onWake?: () => void } = {}): ReceiveJob {
  const { collisions = 'rename', onWake = () => {} } = options;
  const job = new ReceiveJob({ out, collisions, toStdout: false, reportPlaced: true, durable: false, onWake });
  closing.push(job);
  return job;
}

/** A callback, and a promise of its next call. */
function bell() {
  let ring = () => {};
  let rung = new Promise<void>((resolve) => {
    ring = resolve;
  });
  const wait = async () => {
    await rung;
    rung = new Promise((resolve) => {
      ring = resolve;
    });
  };
  return { ring: () => ring(), wait };
}

/** Sends `path` to `out` over one lane, through `relay` if given. @returns the receiving job, complete */
async function transfer(path: string, collisions: Collision = 'rename', relay?: Listener): Promise<ReceiveJob> {
  const { ring, wait } = bell();
  const listener = Listener.open({ host: '127.0.0.1', port: 0, onConnection() {} });
  const roots = [{ path, name: 'sent' }];
  const sender = new SendJob({ roots, onWake: ring });
  closing.push(sender, listener);
  const receiver = receive({ collisions, onWake: ring });
  sender.expectLanes(listener, KEYS);
  await receiver.open();
  if (relay === undefined) await receiver.addLane('127.0.0.1', listener.port, 0, KEYS);
  else {
    const { port } = relay;
    const token = new Uint8Array(32).fill(7);
    await Promise.all([
      listener.joinRelay({ host: '127.0.0.1', port, token, waitMs: 10_000 }),
      receiver.addLane('127.0.0.1', port, 0, KEYS, { relayToken: token }),
    ]);
  }
  sender.start();
  expect([sender.currentPath(), receiver.currentPath()]).toEqual(['', '']);
  for (let complete = false; !complete; ) {
    await wait();
    const { pages, walked } = sender.takeNews();
    for (const page of pages) {
      const { wanted, partials, collisions: asked } = await receiver.plan(page);
      for (const entry of asked) {
        const decided = await receiver.decide(entry, 'overwrite');
        const bit = entry - page.first;
        if ((decided.wanted[0] ?? 0) & 1) wanted[bit >> 3] = (wanted[bit >> 3] ?? 0) | (1 << (bit & 7));
      }
      sender.answer(page.first, page.count, wanted, partials);
    }
    if (walked) receiver.endOfPages();
    const news = receiver.takeNews();
    expect(news.problems).toEqual([]);
    complete = news.complete;
  }
  await receiver.finish();
  // A single lane keeps the order.
  expect(sender.currentPath()).toBe(receiver.currentPath());
  return receiver;
}

it('receives a tree as it was sent', async () => {
  mkdirSync(join(folder, 'tree/d'), { recursive: true });
  writeFileSync(join(folder, 'tree/d/small'), 'small');
  writeFileSync(join(folder, 'tree/large'), Buffer.alloc(3 << 20, 'large'));
  chmodSync(join(folder, 'tree/d'), 0o500);
  const job = await transfer(join(folder, 'tree'));
  expect(readFileSync(join(out, 'sent/d/small'), 'utf8')).toBe('small');
  expect(readFileSync(join(out, 'sent/large')).equals(Buffer.alloc(3 << 20, 'large'))).toBe(true);
  expect(statSync(join(out, 'sent/d')).mode & 0o7777).toBe(0o500);
  const bytes = (3 << 20) + 5;
  expect(['sent/d/small', 'sent/large']).toContain(job.currentPath());
  expect(job.progress()).toEqual({ files: 2, bytes, placedBytes: bytes, skipped: 0, resumedBytes: 0, skippedBytes: 0 });
  await job.close();
  expect(existsSync(join(out, '.keibidrop-partial'))).toBe(false);
});

it('receives through a relay', async () => {
  const relay = Listener.open({ host: '127.0.0.1', port: 0, onConnection() {} });
  closing.push(relay);
  relay.serveRelay({
    pairs: 1,
    waiting: 1,
    perAddress: 2,
    waitMs: 10_000,
    idleMs: 10_000,
    lifetimeMs: 10_000,
    bytesPerSecond: 0,
  });
  const content = Buffer.alloc(30 << 20, 'relayed');
  writeFileSync(join(folder, 'f'), content);
  await transfer(join(folder, 'f'), 'rename', relay);
  expect(readFileSync(join(out, 'sent')).equals(content)).toBe(true);
  expect(relay.relayStats().bytes).toBeGreaterThan(content.length);
});

it('asks about collisions and applies the decision', async () => {
  mkdirSync(out);
  writeFileSync(join(out, 'sent'), 'old');
  writeFileSync(join(folder, 'f'), 'new content');
  const job = await transfer(join(folder, 'f'), 'ask');
  expect(readFileSync(join(out, 'sent'), 'utf8')).toBe('new content');
  expect([job.pathOf(0), job.finalPathOf(0)]).toEqual(['sent', 'sent']);
});

it('returns the digests of placed files, and can mark a file to be sent again', async () => {
  writeFileSync(join(folder, 'f'), 'abc');
  const job = await transfer(join(folder, 'f'));
  expect(Buffer.from(await job.digest(0)).toString('hex')).toMatch(/^ba7816bf8f01cfea/);
  await job.distrust(0);
  expect(statSync(join(out, 'sent')).mtimeMs).not.toBe(statSync(join(folder, 'f')).mtimeMs);
  await expect(job.digest(1)).rejects.toMatchObject({ code: 'INTERNAL' });
});

it('rejects with the code of the failure', async () => {
  writeFileSync(join(folder, 'out'), 'a file');
  await expect(receive().open()).rejects.toMatchObject({ code: 'TRANSFER_DESTINATION_UNUSABLE', errnoName: 'ENOTDIR' });
  rmSync(join(folder, 'out'));
  const job = receive();
  await job.open();
  const page = { first: 0, count: 1, bytes: new Uint8Array(3) };
  await expect(job.plan(page)).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
  await expect(job.plan({ ...page, bytes: new Uint8Array(300_000) })).rejects.toMatchObject({
    code: 'TRANSFER_LIMIT_EXCEEDED',
  });
  await expect(job.decide(0, 'skip')).rejects.toMatchObject({ code: 'INTERNAL' });
  await expect(job.addLane('127.0.0.1', 1, 0, KEYS)).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  await expect(job.addLane('example.org', 1, 0, KEYS)).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  await job.close();
  await expect(job.plan(page)).rejects.toMatchObject({
    code: expect.stringMatching(/CANCELLED|HANDSHAKE_MALFORMED/),
  });
});

it('refuses arguments that would break native code', async () => {
  const job = receive();
  const options = {
    out,
    collisions: 'skip',
    toStdout: false,
    reportPlaced: false,
    durable: false,
    onWake() {},
  };
  const create = (wrong: object) => () => new ReceiveJob({ ...options, ...wrong } as never);
  const calls = [
    create({ out: undefined }),
    create({ out: 'a\0b' }),
    create({ collisions: 'both' }),
    create({ toStdout: 1 }),
    create({ reportPlaced: undefined }),
    create({ budget: {} }),
    create({ durable: 1 }),
    create({ onWake: 'x' }),
    () => void job.addLane('127.0.0.1', 0, 0, KEYS),
    () => void job.addLane('127.0.0.1', 1, 256, KEYS),
    () => void job.addLane(7 as never, 1, 0, KEYS),
    () => void job.addLane('127.0.0.1', 1, 0, { ...KEYS, laneSecret: new Uint8Array(31) }),
    () => job.failEntry(-1, true),
    () => void job.digest(-1),
    () => void job.distrust(2 ** 32),
  ];
  const misuse = expect.objectContaining({ name: 'TypeError', code: 'INTERNAL' });
  for (const call of calls) expect(call).toThrow(misuse);
  const bytes = 'x' as unknown as Uint8Array;
  await expect(job.plan({ first: 0, count: 1, bytes })).rejects.toEqual(misuse);
  await expect(job.plan({ first: -1, count: 1, bytes: new Uint8Array(1) })).rejects.toEqual(misuse);
  await expect(job.decide(0, 'both' as never)).rejects.toEqual(misuse);
});

it('closes unopened, twice, and with pending calls', async () => {
  const job = receive();
  const calls = [job.open(), job.plan({ first: 0, count: 1, bytes: new Uint8Array(1) }), job.finish()];
  await Promise.all([job.close(), job.close(), Promise.allSettled(calls)]);
  await job.close();
  expect(existsSync(join(out, '.keibidrop-partial'))).toBe(false);
});

describe('a process', () => {
  const addon = process.env.KD_NATIVE_BINDING ?? fileURLToPath(new URL('../build/keibidrop.node', import.meta.url));
  // `start` sends `source` to `out` over the lanes, slowly on request; resolves once complete.
  const PRELUDE = `
    const addon = require(${JSON.stringify(addon)});
    const fs = require('node:fs');
    const id = new Uint8Array(16), secret = new Uint8Array(32);
    async function start(source, out, rate, onProgress = () => {}) {
      const listener = new addon.Listener('127.0.0.1', 0, () => {}, false, 0);
      let sender, receiver, busy = false;
      let resolve; const done = new Promise((r) => (resolve = r));
      const pump = async () => {
        if (busy) return; busy = true;
        for (const { first, count, bytes } of (news = sender.takeNews()).pages) {
          const { wanted } = await receiver.plan(first, count, bytes);
          sender.answer(first, count, wanted, [], []);
        }
        if (news.walked) receiver.endOfPages();
        if (receiver.takeNews().complete) resolve();
        busy = false;
        if (sender.takeNews !== undefined) setImmediate(() => onProgress(receiver.progress()[1]));
      };
      let news;
      sender = new addon.SendJob([source, 'sent', 0, ''], rate > 0 ? new addon.RateBudget(rate) : undefined, pump, '', false);
      receiver = new addon.ReceiveJob(out, 0, false, false, false, undefined, pump);
      sender.expectLanes(listener, id, secret, 1);
      await receiver.open();
      await receiver.addLane('127.0.0.1', listener.port, 0, id, secret, 1);
      sender.start();
      const timer = setInterval(pump, 5);
      return { done, close: async () => { clearInterval(timer); listener.close(); await sender.close(); await receiver.close(); } };
    }
    const source = ${JSON.stringify('SOURCE')}, out = ${JSON.stringify('OUT')};
  `;
  const prelude = (source: string) =>
    PRELUDE.replace('"SOURCE"', JSON.stringify(source)).replace('"OUT"', JSON.stringify(out));
  const run = (code: string) => {
    const options = { encoding: 'utf8', timeout: 240_000 } as const;
    const { status, signal, stderr, stdout } = spawnSync(process.execPath, ['--expose-gc', '-e', code], options);
    return { status, signal, stderr, stdout };
  };
  const clean = { status: 0, signal: null, stderr: '', stdout: '' };

  const STEPS: Record<string, string> = {
    'with jobs that were only made': `new addon.SendJob([source, 'x', 0, ''], undefined, () => {}, '', false);
      new addon.ReceiveJob(out, 0, false, false, false, undefined, () => {}, '', false); process.exit()`,
    'with an open job': `const job = new addon.ReceiveJob(out, 0, false, false, false, undefined, () => {}, '', false); job.open().then(process.exit)`,
    'while a job is being opened': `const job = new addon.ReceiveJob(out, 0, false, false, false, undefined, () => {}, '', false); job.open(); process.exit()`,
    'while it walks': `new addon.SendJob(['/usr', 'usr', 0, ''], undefined, () => {}, '', false).start(); process.exit()`,
    'in the middle of a transfer': `start(source, out, 3e6, (bytes) => bytes > 0 && process.exit())`,
    'while it closes in the middle of a transfer': `start(source, out, 3e6, (bytes) => bytes > 0 && process.exit())
      .then((transfer) => setTimeout(() => { transfer.close(); process.exit() }, 50))`,
    'by itself after a transfer': `start(source, out, 0).then(async (t) => { await t.done; await t.close() })`,
  };

  it.each(Object.entries(STEPS))('exits cleanly %s, also in a worker', (_name, step) => {
    const source = join(folder, 'source');
    writeFileSync(source, Buffer.alloc(8 << 20));
    const code =
      prelude(source) +
      step.replaceAll('process.exit()', 'process.exit(0)').replace('then(process.exit)', 'then(() => process.exit(0))');
    expect(run(code)).toEqual(clean);
    rmSync(out, { recursive: true, force: true });
    const worker = `const { Worker } = require('node:worker_threads');
      new Worker(${JSON.stringify(code)}, { eval: true }).on('exit', (code) => process.exit(code))`;
    expect(run(worker)).toEqual(clean);
  });

  it('can be stopped while its standard output is not read', async () => {
    const source = join(folder, 'source');
    writeFileSync(source, Buffer.alloc(8 << 20));
    const code = `${prelude(source).replace('(out, 0, false,', '(out, 0, true,')}
      start(source, out, 0).then((transfer) => setTimeout(() => transfer.close().then(() => process.exit(0)), 200))`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'], timeout: 240_000 });
    const [status, signal] = await once(child, 'exit');
    child.stdout.destroy();
    expect({ status, signal }).toEqual({ status: 0, signal: null });
  });

  it('keeps neither memory nor descriptors over 200 small transfers', () => {
    mkdirSync(join(folder, 'source'));
    for (let i = 0; i < 20; i++) writeFileSync(join(folder, 'source', String(i)), Buffer.alloc(i * 1000));
    const code = `${prelude(join(folder, 'source'))}
      const once = async () => {
        const transfer = await start(source, out, 0);
        await transfer.done;
        await transfer.close();
        fs.rmSync(out, { recursive: true });
      };
      const settled = () => new Promise((done) => setImmediate(() => { gc(); setImmediate(done) }));
      const measured = async () => { await settled(); await settled(); return [process.memoryUsage.rss(), fs.readdirSync('/proc/self/fd').length] };
      (async () => {
        for (let i = 0; i < 40; i++) await once();
        const before = await measured();
        for (let i = 0; i < 200; i++) await once();
        const after = await measured();
        console.log(JSON.stringify({ bytes: after[0] - before[0], descriptors: after[1] - before[1] }));
      })()`;
    const { stdout, stderr, status } = run(code);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const { bytes, descriptors } = JSON.parse(stdout) as { bytes: number; descriptors: number };
    expect(descriptors).toBe(0);
    expect(bytes).toBeLessThan(24 << 20);
  });
});
