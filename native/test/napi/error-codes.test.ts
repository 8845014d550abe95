// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]);

const rows = read('native/src/napi/errors.cc');

it('gives every code of native/src/core/status.h a row in napi/errors.cc', () => {
  const codes = all(read('native/src/core/status.h'), /^ {2}(k[A-Z]\w+),$/gm).filter((code) => code !== 'kOk');
  expect(codes.length).toBeGreaterThan(20);
  expect(all(rows, /\{Code::(\w+), "/g).sort()).toEqual(codes.sort());
});

it('names only codes that packages/protocol knows', () => {
  const known = all(read('packages/protocol/src/error-table.ts'), /^ {2}([A-Z_]+): /gm);
  const named = all(rows, /\{Code::\w+, "([A-Z_]+)"/g);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});
