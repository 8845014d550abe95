// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import type { BenchPart } from './api.ts';
import { limitOf, type Rate } from './limit.ts';

const rates = (figures: Partial<Record<BenchPart, number>>): Rate[] =>
  Object.entries(figures).map(([part, bytesPerSecond]) => ({ part: part as BenchPart, bytesPerSecond }));
const long = (bytesPerSecond: number) => ({ bytesPerSecond, seconds: 10 });

const machine = { write: 400, read: 900, seal: 4000, open: 4400, loopback: 3000 };
const way = { link: 50, peerRead: 49, write: 400, open: 4400 };

it.each<[string, Partial<Record<BenchPart, number>>, number, string, number, BenchPart]>([
  ['the slowest part', machine, 390, 'write', 400, 'read'],
  ['a disk that memory hides', machine, 2000, 'write', 400, 'read'],
  ['a slow cipher', { ...machine, seal: 100, open: 110 }, 90, 'seal', 100, 'open'],
  ['all at once on few cores', machine, 279, 'sharing', 279, 'write'],
  ['the link', way, 48, 'link', 50, 'write'],
  ['the disk there, slower than the link', { ...way, peerRead: 30 }, 29, 'peerRead', 30, 'link'],
  ['the disk here', { ...way, link: 900, peerRead: 850 }, 390, 'write', 400, 'link'],
  ['a cipher that is the link', { ...way, link: 160, peerRead: 155, open: 200 }, 150, 'open', 160, 'write'],
])('names %s', (_, figures, whole, part, bytesPerSecond, next) => {
  const limit = limitOf(rates(figures), long(whole));
  expect(limit).toMatchObject({ part, bytesPerSecond, next: { part: next }, wholeBytesPerSecond: whole });
});

it('does not mistake a short transfer for a shared machine', () => {
  expect(limitOf(rates(machine), { bytesPerSecond: 100, seconds: 0.1 }).part).toBe('write');
});

it('needs no second part', () => {
  const limit = limitOf(rates({ write: 5 }), long(5));
  expect(limit).toEqual({ part: 'write', bytesPerSecond: 5, wholeBytesPerSecond: 5 });
});
