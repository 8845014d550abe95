// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, MAX_ENTRIES } from '../limits.ts';
import { type Entry, TOP } from './manifest.ts';
import { ManifestGuard } from './manifest-guard.ts';

const entry = (name: string, parent = TOP, type: Entry['type'] = 'file'): Entry => ({
  type,
  mode: 0o644,
  parent,
  mtimeNs: 0n,
  size: 0,
  name,
  ...(type === 'symlink' && { target: 'anywhere' }),
});
const directory = (name: string, parent = TOP) => entry(name, parent, 'directory');

const guard = (foldNames = false) => new ManifestGuard({ foldNames });
const refusedPath = expect.objectContaining({ code: 'TRANSFER_PATH_REFUSED' });
const overLimit = expect.objectContaining({ code: 'TRANSFER_LIMIT_EXCEEDED' });

describe('ManifestGuard', () => {
  it('keeps the paths of a tree across pages', () => {
    const tree = guard();
    tree.addPage([directory('photos'), entry('a.jpg', 0), directory('2024', 0)]);
    tree.addPage([entry('b.jpg', 2), entry('link', 0, 'symlink'), entry('a.jpg')]);
    const paths = Array.from({ length: tree.entries }, (_, i) => tree.pathOf(i));
    expect(paths).toEqual(['photos', 'photos/a.jpg', 'photos/2024', 'photos/2024/b.jpg', 'photos/link', 'a.jpg']);
    expect([tree.typeOf(0), tree.typeOf(3), tree.typeOf(4)]).toEqual(['directory', 'file', 'symlink']);
    expect([tree.parentOf(3), tree.parentOf(5)]).toEqual([2, TOP]);
  });

  it.each<[string, Entry[]]>([
    ['a parent that comes later', [entry('a', 1), directory('b')]],
    ['itself for a parent', [directory('a', 0)]],
    ['a parent that never comes', [entry('a', 4_000_000_000)]],
    ['a file for a parent', [entry('a'), entry('b', 0)]],
    ['a symlink for a parent, and so a file through it', [entry('a', TOP, 'symlink'), entry('b', 0)]],
    ['a stream for a parent', [entry('a', TOP, 'stream'), entry('b', 0)]],
    ['a name twice at the top', [entry('a'), entry('a')]],
    ['a name twice in a directory', [directory('d'), entry('a', 0), entry('a', 0)]],
    ['a directory twice', [directory('d'), directory('d')]],
    ['a symlink in the place of a directory', [directory('d'), entry('d', TOP, 'symlink')]],
  ])('refuses %s, naming the entry', (_, entries) => {
    for (const pages of [[entries], entries.map((one) => [one])]) {
      const tree = guard();
      expect(() => {
        for (const page of pages) tree.addPage(page);
      }).toThrow(
        expect.objectContaining({ code: 'TRANSFER_PATH_REFUSED', message: expect.stringMatching(/^Entry \d+, /) }),
      );
    }
  });

  it('accepts one name in many directories', () => {
    const tree = guard();
    tree.addPage(Array.from({ length: 100 }, (_, i) => directory(`d${i}`)));
    tree.addPage(Array.from({ length: 100 }, (_, i) => entry('same', i)));
    expect(tree.pathOf(150)).toBe('d50/same');
  });

  it('accepts MAX_DEPTH directories above an entry, and not one more', () => {
    const tree = guard();
    tree.addPage([directory('d')]);
    for (let i = 1; i < MAX_DEPTH; i++) tree.addPage([directory('d', i - 1)]);
    tree.addPage([directory('deepest', MAX_DEPTH - 1)]);
    expect(tree.pathOf(MAX_DEPTH).split('/').length).toBe(MAX_DEPTH + 1);
    expect(() => tree.addPage([entry('deeper', MAX_DEPTH)])).toThrow(overLimit);
  });

  it('accepts MAX_ENTRIES entries, and not one more', () => {
    const tree = guard();
    const page: Entry[] = [];
    for (let i = 0; i < MAX_ENTRIES; i++) {
      page.push(entry(i.toString(36)));
      if (page.length === 4096) tree.addPage(page.splice(0));
    }
    expect(tree.entries).toBe(MAX_ENTRIES);
    expect(tree.pathOf(MAX_ENTRIES - 1)).toBe((MAX_ENTRIES - 1).toString(36));
    expect(() => tree.addPage([entry('one more')])).toThrow(overLimit);
  });

  it('finds a duplicate among many, at any position', () => {
    const count = 20_000;
    const tree = guard();
    tree.addPage(Array.from({ length: count }, (_, i) => entry(`name-${i}`)));
    for (let i = 0; i < count; i++) {
      expect(() => tree.addPage([entry(`name-${i}`)]), `name-${i}`).toThrow(/is a duplicate/);
    }
  });

  it.each([
    ['README', 'readme'],
    ['e\u0301', '\u00e9'],
    ['ÉCOLE', 'e\u0301cole'],
  ])('refuses %j beside %j only if the destination folds names', (first, second) => {
    guard().addPage([entry(first), entry(second)]);
    expect(() => guard(true).addPage([entry(first), entry(second)])).toThrow(
      expect.objectContaining({
        code: 'TRANSFER_PATH_REFUSED',
        message: expect.stringContaining('clashes with'),
      }),
    );
    guard(true).addPage([directory('d'), entry(first), entry(second, 0)]);
  });

  it('refuses staging names in any case if the destination folds names', () => {
    expect(() => guard(true).addPage([entry('.KeibiDrop-Partial-1')])).toThrow(refusedPath);
    guard(true).addPage([directory('d'), entry('.KeibiDrop-Partial-1', 0)]);
    guard().addPage([entry('.KeibiDrop-Partial-1')]);
  });

  it('refuses exactly the duplicates that a set of paths would', () => {
    const names = fc.constantFrom('a', 'A', 'b', 'é', 'e\u0301', 'É');
    const shape = fc.record({ name: names, parent: fc.nat(12), isDirectory: fc.boolean() });
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 12 }), fc.boolean(), (shapes, foldNames) => {
        const tree = guard(foldNames);
        const directories = new Map<number, string>([[TOP, '']]);
        const paths = new Set<string>();
        shapes.forEach(({ name, parent, isDirectory }, i) => {
          const under = parent === 12 ? TOP : parent;
          const next = entry(name, under, isDirectory ? 'directory' : 'file');
          const above = directories.get(under);
          const path = `${above}/${foldNames ? name.normalize('NFC').toLowerCase() : name}`;
          if (above === undefined || paths.has(path)) {
            expect(() => tree.addPage([next])).toThrow(refusedPath);
            // A real manifest is refused here; for the model, another entry takes the place.
            tree.addPage([entry(`other-${i}`)]);
            return;
          }
          tree.addPage([next]);
          paths.add(path);
          if (isDirectory) directories.set(i, path);
        });
      }),
    );
  });

  it('throws for entries it has not seen', () => {
    const tree = guard();
    tree.addPage([entry('a')]);
    for (const unknown of [1, -1, TOP]) expect(() => tree.typeOf(unknown)).toThrow(/no entry/);
  });
});
