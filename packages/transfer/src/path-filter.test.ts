// SPDX-License-Identifier: MPL-2.0
import { type Entry, encodePage, TOP } from '@keibidrop/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EntryList } from './entry-list.ts';
import { EntryLog } from './entry-log.ts';

const { signal } = new AbortController();
const letters = fc.array(fc.constantFrom('a', 'B', 'é', ' ', '.'), { minLength: 1, maxLength: 3 });
const names = letters.map((parts) => `n${parts.join('')}`);
const filters = fc.array(fc.constantFrom('a', 'b', 'É', ' ', '/', 'n', '.'), { minLength: 1, maxLength: 4 });
const shapes = fc.array(
  fc.record({ name: names, isFolder: fc.boolean(), isLink: fc.boolean(), above: fc.nat(), ends: fc.boolean() }),
  { minLength: 1, maxLength: 24 },
);

/** Entries as a walk may find them, in pages, and the path of each. */
function treeOf(found: typeof shapes extends fc.Arbitrary<infer T> ? T : never): { log: EntryLog; paths: string[] } {
  const log = new EntryLog(() => true);
  const paths: string[] = [];
  const folders: number[] = [TOP];
  let waiting: Entry[] = [];
  const flush = () => {
    const first = paths.length - waiting.length;
    log.add({ first, count: waiting.length, bytes: encodePage(waiting, first) });
    waiting = [];
  };
  for (const { name, isFolder, isLink, above, ends } of found) {
    const parent = folders[above % folders.length] ?? TOP;
    const type = isFolder ? 'directory' : isLink ? 'symlink' : 'file';
    if (isFolder) folders.push(paths.length);
    paths.push(parent === TOP ? name : `${paths[parent]}/${name}`);
    waiting.push({
      type,
      mode: 0o644,
      parent,
      mtimeNs: 0n,
      size: 0,
      name,
      ...(type === 'symlink' && { target: 'to' }),
    });
    if (ends) flush();
  }
  if (waiting.length > 0) flush();
  return { log, paths };
}

it('finds exactly the entries whose path contains a text', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, filters, async (found, parts) => {
      const { log, paths } = treeOf(found);
      const filter = parts.join('');
      const expected = paths.filter((path) => path.toLowerCase().includes(filter.toLowerCase()));
      const { total, entries } = await new EntryList(log).part({ first: 0, limit: 100, filter }, signal);
      expect(entries.map(({ path }) => path)).toEqual(expected);
      expect(total).toBe(expected.length);
    }),
    { numRuns: 500 },
  );
});

it('finds entries below a folder of an earlier page', async () => {
  const log = new EntryLog(() => true);
  const add = (first: number, entry: Partial<Entry>) => {
    const whole: Entry = { type: 'file', mode: 0o644, parent: TOP, mtimeNs: 0n, size: 0, name: 'x', ...entry };
    log.add({ first, count: 1, bytes: encodePage([whole], first) });
  };
  add(0, { type: 'directory', name: 'Photos' });
  const list = new EntryList(log);
  const query = { first: 0, limit: 100, filter: 'photo' };
  expect((await list.part(query, signal)).total).toBe(1);
  add(1, { parent: 0 });
  expect((await list.part(query, signal)).entries.map(({ path }) => path)).toEqual(['Photos', 'Photos/x']);
});
