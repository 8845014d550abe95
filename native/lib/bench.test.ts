// SPDX-License-Identifier: MPL-2.0
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, Listener } from './index.ts';

const MIB = 2 ** 20;
let folder: string;
let bench: Bench;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keibi-'));
  bench = new Bench();
});
afterEach(() => {
  bench.close();
  rmSync(folder, { recursive: true });
});

it('writes and reads a file of random-looking data', async () => {
  const file = join(folder, 'f');
  expect(await bench.write(file, 3 * MIB + 5)).toBeGreaterThan(0);
  const content = readFileSync(file);
  expect(content.length).toBe(3 * MIB + 5);
  // No two neighbouring chunks are equal.
  expect(content.subarray(0, MIB).equals(content.subarray(MIB, 2 * MIB))).toBe(false);
  expect(await bench.read(file)).toEqual({
    bytes: 3 * MIB + 5,
    seconds: expect.any(Number),
    fromMemory: expect.any(Boolean),
  });
  expect(await bench.flush(file)).toBeGreaterThanOrEqual(0);
});

it('measures suites, digest, loopback and a round trip', async () => {
  const listener = Listener.open({ host: '127.0.0.1', port: 0, onConnection: () => {} });
  try {
    for (const suite of ['aes-256-gcm', 'chacha20-poly1305'] as const) {
      const { seal, open } = await bench.suite(suite, 1);
      expect(Math.min(seal, open)).toBeGreaterThan(0);
    }
    expect(await bench.sha256(1)).toBeGreaterThan(0);
    expect(await bench.loopback(MIB + 1)).toBeGreaterThan(0);
    expect(await bench.roundTrip('127.0.0.1', listener.port)).toBeGreaterThan(0);
  } finally {
    await listener.close();
  }
});

describe('a failure has its code', () => {
  it.each<[string, (bench: Bench) => Promise<unknown>]>([
    ['TRANSFER_DESTINATION_UNUSABLE', (one) => one.write(join(folder, 'no', 'f'), 1)],
    ['TRANSFER_SOURCE_UNREADABLE', (one) => one.read(join(folder, 'no'))],
    ['TRANSFER_SOURCE_UNREADABLE', (one) => one.flush(join(folder, 'no'))],
    ['PEER_UNREACHABLE', (one) => one.roundTrip('127.0.0.1', 1)],
  ])('%s', async (code, measure) => {
    await expect(measure(bench)).rejects.toMatchObject({ code });
  });

  it('CANCELLED once closed, even for calls that are running', async () => {
    const running = bench.loopback(2 ** 40);
    bench.close();
    const later = [bench.write(join(folder, 'f'), MIB), bench.suite('aes-256-gcm', 1000), bench.sha256(1000)];
    for (const { reason } of (await Promise.allSettled([running, ...later])) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: 'CANCELLED' });
    }
  });
});

it('refuses arguments that make no sense', () => {
  expect(() => bench.write('a\0b', 1)).toThrow(TypeError);
  expect(() => bench.write('a', 0)).toThrow(TypeError);
  expect(() => bench.suite('rot13' as 'aes-256-gcm', 1)).toThrow(TypeError);
  expect(() => bench.sha256(1e9)).toThrow(TypeError);
  expect(() => bench.roundTrip('h', 0)).toThrow(TypeError);
});
