// SPDX-License-Identifier: MPL-2.0
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MountCaches } from './mount-caches.ts';

const PHOTOS = { fingerprint: 'anna', id: '01'.repeat(16), name: 'photos' };

let folder: string;
let caches: MountCaches;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keibi-caches-'));
  caches = new MountCaches(join(folder, 'mounts'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Leaves a file in the cache of a share, and returns the cache's folder. */
async function leave(share: typeof PHOTOS): Promise<string> {
  const cache = await caches.openKept(share);
  writeFileSync(join(`${cache?.folder}`, 'left'), 'here');
  await cache?.close();
  return `${cache?.folder}`;
}

it('a cache that is not kept starts empty and is removed with its mount', async () => {
  const cache = await caches.open(7);
  writeFileSync(join(cache.folder, 'left'), 'here');
  expect(statSync(cache.folder).mode & 0o777).toBe(0o700);
  expect(readdirSync((await caches.open(7)).folder)).toEqual([]);
  await cache.close();
  expect(existsSync(cache.folder)).toBe(false);
});

it('a kept cache is found only by the same share of the same person', async () => {
  const kept = await leave(PHOTOS);
  expect(statSync(kept).mode & 0o777).toBe(0o700);
  const others = [{ fingerprint: 'bob' }, { id: '02'.repeat(16) }, { name: 'music' }];
  for (const other of others) expect(await leave({ ...PHOTOS, ...other })).not.toBe(kept);
  const again = await caches.openKept(PHOTOS);
  expect(again?.folder).toBe(kept);
  expect(readdirSync(kept)).toEqual(['left']);
});

it('two mounts of a share do not use one cache', async () => {
  const first = await caches.openKept(PHOTOS);
  expect(await caches.openKept(PHOTOS)).toBeUndefined();
  await caches.drop(PHOTOS);
  expect(existsSync(`${first?.folder}`)).toBe(true);
  await first?.close();
  expect(await caches.openKept(PHOTOS)).toBeDefined();
});

it('a kept cache is gone after a restart of the machine, and after a drop', async () => {
  const kept = await leave(PHOTOS);
  const music = await leave({ ...PHOTOS, name: 'music' });
  for (const one of [kept, music]) writeFileSync(join(dirname(one), 'boot'), 'before');
  await caches.openKept(PHOTOS);
  expect(readdirSync(kept)).toEqual([]);
  await caches.trim();
  expect(existsSync(music)).toBe(false);
  const again = await leave({ ...PHOTOS, name: 'music' });
  await caches.drop({ ...PHOTOS, name: 'music' });
  expect(existsSync(again)).toBe(false);
});

it('the least recently used of many kept caches are evicted', async () => {
  const kept: string[] = [];
  for (let i = 0; i < 20; i++) {
    kept.push(await leave({ ...PHOTOS, name: `${i}` }));
    utimesSync(join(dirname(`${kept.at(-1)}`), 'boot'), i, i);
  }
  await caches.trim();
  expect(kept.map((one) => existsSync(one))).toEqual(kept.map((_, i) => i >= 4));
});
