// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LocalSource, type Mount, mount } from './index.ts';
import { inProcess } from '../test/outside.ts';

let folder: string;
let source: LocalSource;
let shown: Mount;
const at = (...names: string[]) => join(folder, 'mounted', ...names);
const there = (...names: string[]) => join(folder, 'source', ...names);
const { signal } = new AbortController();

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-mount-')));
  for (const name of ['source', 'cache']) mkdirSync(join(folder, name));
  mkdirSync(there('d', 'deep'), { recursive: true });
  writeFileSync(there('d', 'file'), 'inside');
  symlinkSync('d/file', there('link'));
  source = new LocalSource(there());
  shown = await mount({ source, folder: at(), cache: join(folder, 'cache'), signal });
});
afterEach(async () => {
  await shown.unmount({ force: true });
  await source.close();
  rmSync(folder, { recursive: true });
});

it('shows', async () => {
  expect(await inProcess('ls', '-la', at())).toBe('');
});
