// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Listener, MAX_EXCLUDE_BYTES, NO_ENTRY, type Page, type Problem, RateBudget, SendJob } from './index.ts';

let folder: string;
const jobs: SendJob[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keibi-'));
});

afterEach(async () => {
  for (const job of jobs.splice(0)) await job.close();
  rmSync(folder, { recursive: true });
});

function send(roots: { path: string; name: string }[], onWake = () => {}): SendJob {
  const job = new SendJob({ roots, onWake });
  jobs.push(job);
  return job;
}

/** Walks to the end and returns all pages, problems and totals. */
async function walk(job: SendJob): Promise<{ pages: Page[]; problems: Problem[]; walked: object }> {
  const pages: Page[] = [];
  const problems: Problem[] = [];
  job.start();
  return vi.waitFor(
    () => {
      const news = job.takeNews();
      pages.push(...news.pages);
      problems.push(...news.problems);
      if (!news.walked) throw new Error('still walking');
      return { pages, problems, walked: news.walked };
    },
    { interval: 1, timeout: 240_000 },
  );
}

it('walks its roots and reports pages and totals', async () => {
  mkdirSync(join(folder, 'd'));
  writeFileSync(join(folder, 'd', 'f'), 'four');
  const onWake = vi.fn();
  const { pages, problems, walked } = await walk(send([{ path: folder, name: 'top' }], onWake));
  expect(pages.map(({ first, count }) => ({ first, count }))).toEqual([
    { first: 0, count: 1 },
    { first: 1, count: 2 },
  ]);
  expect(walked).toEqual({ entries: 3, files: 1, bytes: 4, leftOut: 0 });
  expect(problems).toEqual([]);
  await vi.waitFor(() => expect(onWake).toHaveBeenCalled(), 240_000);
});

it('names what it cannot offer, by an ErrorCode and without its path in the reason', async () => {
  const { problems } = await walk(
    send([
      { path: join(folder, 'missing'), name: 'missing' },
      { path: '/dev/null', name: 'null' },
    ]),
  );
  expect(problems).toEqual([
    { entry: NO_ENTRY, code: 'TRANSFER_SOURCE_MISSING', path: 'missing', reason: expect.not.stringContaining(folder) },
    { entry: NO_ENTRY, code: 'TRANSFER_SOURCE_UNSUPPORTED', path: 'null', reason: expect.any(String) },
  ]);
});

it('refuses an answer that does not fit, is out of order or repeated', async () => {
  writeFileSync(join(folder, 'f'), 'x');
  const job = send([{ path: join(folder, 'f'), name: 'f' }]);
  await walk(job);
  const malformed = expect.objectContaining({ code: 'HANDSHAKE_MALFORMED' });
  expect(() => job.answer(0, 2, new Uint8Array(1), [])).toThrow(malformed);
  expect(() => job.answer(0, 1, new Uint8Array(2), [])).toThrow(malformed);
  expect(() => job.answer(1, 1, new Uint8Array(1), [])).toThrow(malformed);
  job.answer(0, 1, Uint8Array.of(1), []);
  expect(() => job.answer(0, 1, Uint8Array.of(1), [])).toThrow(malformed);
});

it('returns the digests of a file, and fails if it differs from the offer', async () => {
  writeFileSync(join(folder, 'f'), 'abc');
  const job = send([{ path: join(folder, 'f'), name: 'f' }]);
  await walk(job);
  expect(Buffer.from(await job.digest(0)).toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
  writeFileSync(join(folder, 'f'), 'abcd');
  await expect(job.digest(0)).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_CHANGED' });
  rmSync(join(folder, 'f'));
  await expect(job.digest(0)).rejects.toMatchObject({ code: 'TRANSFER_SOURCE_MISSING' });
  await expect(job.digest(7)).rejects.toMatchObject({ code: 'INTERNAL' });
});

it('refuses arguments that would break native code', () => {
  const job = send([]);
  const listener = Listener.open({ host: '127.0.0.1', port: 0, onConnection() {} });
  const bytes = new Uint8Array(32);
  const shared = new Uint8Array(new SharedArrayBuffer(16));
  const calls = [
    () => send([{ path: 7 as unknown as string, name: 'n' }]),
    () => send([{ path: 'a\0b', name: 'n' }]),
    () => new SendJob({ roots: [], budget: {} as RateBudget, onWake() {} }),
    () => new RateBudget(-1),
    () => new RateBudget(0.5),
    () => new SendJob({ roots: [], selection: { exclude: 7 as unknown as string }, onWake() {} }),
    () => new SendJob({ roots: [], selection: { exclude: 'x'.repeat(MAX_EXCLUDE_BYTES + 1) }, onWake() {} }),
    () => new SendJob({ roots: [], selection: { gitignore: 1 as unknown as boolean }, onWake() {} }),
    () => new SendJob({ roots: [], onWake: undefined as unknown as () => void }),
    () => job.expectLanes(listener, { sessionId: bytes, laneSecret: bytes, suite: 'aes-256-gcm' }),
    () => job.expectLanes(listener, { sessionId: shared, laneSecret: bytes, suite: 'aes-256-gcm' }),
    () => job.answer(-1, 1, bytes, []),
    () => job.answer(0, 1, 'x' as unknown as Uint8Array, []),
    () => job.answer(0, 1, bytes, [{ entry: 0.5, held: bytes }]),
    () => job.drop(2 ** 32),
    () => void job.digest(Number.NaN),
  ];
  try {
    for (const call of calls) expect(call).toThrow(expect.objectContaining({ name: 'TypeError', code: 'INTERNAL' }));
  } finally {
    void listener.close();
  }
});

it('closes twice at once, calls nothing back afterwards, and does not start again', async () => {
  for (let i = 0; i < 50; i++) mkdirSync(join(folder, String(i)));
  const onWake = vi.fn();
  const job = send([{ path: folder, name: 'top' }], onWake);
  job.start();
  job.start();
  await Promise.all([job.close(), job.close()]);
  onWake.mockClear();
  job.start();
  await job.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(onWake).not.toHaveBeenCalled();
});

// 1000 transfers in one process once held 200 descriptors and 200 MiB: a job lives until its wrapper is collected, much
// later than close().
it('holds no descriptor of its roots once it is closed', async () => {
  mkdirSync(join(folder, 'd'));
  const job = send([{ path: folder, name: 'top' }]);
  await walk(job);
  const held = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd).startsWith(folder)).length;
  expect(held()).toBeGreaterThan(0);
  await job.close();
  expect(held()).toBe(0);
});

/** The target of a descriptor of this process; '' if it is closed, such as the descriptor of the listing itself. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}
