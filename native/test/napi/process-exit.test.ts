// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const addon = fileURLToPath(new URL('../../build/keibidrop.node', import.meta.url));

// Helpers for every step. `busy` blocks this thread until another process has sent a preamble to `port`.
const PRELUDE = `
  const addon = require(${JSON.stringify(addon)});
  const net = require('node:net');
  const { execFileSync } = require('node:child_process');
  const key = new Uint8Array(32);
  const exit = () => process.exit(0);
  const open = (callback = () => {}) => new addon.Listener('127.0.0.1', 0, callback, false, 0);
  const dial = (port, start) => net.connect(port, '127.0.0.1').on('error', () => {}).unref().write(start);
  const busy = (port) => execFileSync(process.execPath, ['-e',
    "require('net').connect(" + port + ", '127.0.0.1', function () { this.write('KEIBI-C1', () => process.exit()) })"]);
`;

const STEPS: Record<string, string> = {
  loaded: 'exit()',
  'with a sealer and an opener': 'new addon.FrameSealer(1, key, 1); new addon.FrameOpener(2, key); exit()',
  'after sealing through epochs': `
    const sealer = new addon.FrameSealer(1, key, 1);
    for (let i = 0; i < 10; i++) sealer.seal(new Uint8Array(40));
    exit()`,
  'after closing a sealer': 'const sealer = new addon.FrameSealer(1, key, 1); sealer.close(); exit()',
  'with a listener': 'open(); exit()',
  'with several listeners': 'for (let i = 0; i < 5; i++) open(); exit()',
  'after closing a listener': 'open().close(); exit()',
  'by itself after the listener is closed': 'const listener = open(); setImmediate(() => listener.close())',
  'with a connection of unknown kind': 'const { port } = open(); dial(port, "KEIBI"); setTimeout(exit, 50)',
  'with a connection not yet delivered': 'const { port } = open(); busy(port); exit()',
  'with an undelivered connection and a closed listener':
    'const listener = open(); busy(listener.port); listener.close(); exit()',
  'from inside the callback': 'dial(open(exit).port, "KEIBI-C1")',
  'after closing the listener inside its callback': `
    const listener = open(() => { listener.close(); setImmediate(exit); });
    dial(listener.port, "KEIBI-C1")`,
};

function run(code: string) {
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', timeout: 240_000 });
  return { status, signal, stderr };
}

describe('a process or worker that ends', () => {
  const clean = { status: 0, signal: null, stderr: '' };
  const inWorker = (code: string) => `
    const { Worker } = require('node:worker_threads');
    new Worker(${JSON.stringify(code)}, { eval: true }).on('exit', (code) => process.exit(code))`;

  it.each(Object.entries(STEPS))('exits cleanly %s', (_name, step) => {
    expect(run(PRELUDE + step)).toEqual(clean);
  });

  it.each(Object.entries(STEPS))('exits cleanly in a worker %s', (_name, step) => {
    expect(run(inWorker(PRELUDE + step))).toEqual(clean);
  });

  it('exits cleanly when a worker is terminated while it works', () => {
    const worker = `${PRELUDE} open(); require('node:worker_threads').parentPort.postMessage(0);
      const sealer = new addon.FrameSealer(1, key, 1000); for (;;) sealer.seal(new Uint8Array(100))`;
    const main = `const { Worker } = require('node:worker_threads');
      const worker = new Worker(${JSON.stringify(worker)}, { eval: true });
      worker.on('message', () => worker.terminate())`;
    expect(run(main)).toEqual(clean);
  });

  it('exits cleanly after many workers have loaded the addon, both in turn and in parallel', () => {
    const worker = `${PRELUDE} const listener = open(); const sealer = new addon.FrameSealer(2, key, 1);
      sealer.seal(new Uint8Array(40)); listener.close()`;
    const main = `const { Worker } = require('node:worker_threads');
      const one = () => new Promise((resolve, reject) =>
        new Worker(${JSON.stringify(worker)}, { eval: true }).on('error', reject).on('exit', resolve));
      (async () => { for (let i = 0; i < 5; i++) await Promise.all([one(), one(), one()]) })()`;
    expect(run(main)).toEqual(clean);
  });
});

describe('the environment', () => {
  const printed = (env: Record<string, string>, code: string) =>
    spawnSync(process.execPath, ['-p', PRELUDE + code], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    }).stdout.trim();

  it('disables hardware AES with KD_NO_HARDWARE_AES', () => {
    expect(printed({ KD_NO_HARDWARE_AES: '1' }, 'addon.hasHardwareAes()')).toBe('false');
  });

  it('shortens epochs with KD_REKEY_BYTES, and never lengthens them', () => {
    const epochs = `const sealer = new addon.FrameSealer(1, key, 2 ** 30);
      [0, 1, 2].map(() => { const frame = new Uint8Array(32 + 8); sealer.seal(frame); return frame[7]; }).join()`;
    expect(printed({ KD_REKEY_BYTES: '8' }, epochs)).toBe('0,1,2');
    expect(printed({ KD_REKEY_BYTES: '99999999999999' }, epochs)).toBe('0,0,0');
    expect(printed({ KD_REKEY_BYTES: 'nonsense' }, epochs)).toBe('0,0,0');
  });
});

describe('the addon', () => {
  it('turns an exception in the listener’s callback into an uncaught exception', () => {
    const code = `${PRELUDE} process.on('uncaughtException', (error) => process.exit(error.message === 'mine' ? 0 : 1));
      dial(open(() => { throw new Error('mine') }).port, "KEIBI-C1")`;
    expect(run(code)).toMatchObject({ status: 0, signal: null });
  });

  it('frees the memory of unreferenced sealers and openers', () => {
    const code = `${PRELUDE}
      const churn = () => { for (let i = 0; i < 20000; i++) { new addon.FrameSealer(1, key, 9); new addon.FrameOpener(2, key) } };
      const settled = () => new Promise((done) => setImmediate(() => { gc(); setImmediate(done) }));
      (async () => {
        for (let i = 0; i < 3; i++) { churn(); await settled() }
        const before = process.memoryUsage.rss();
        for (let i = 0; i < 5; i++) { churn(); await settled() }
        console.log(process.memoryUsage.rss() - before);
      })()`;
    const { stdout } = spawnSync(process.execPath, ['--expose-gc', '-e', code], { encoding: 'utf8' });
    expect(Number(stdout)).toBeLessThan(16 * 2 ** 20);
  });
});
