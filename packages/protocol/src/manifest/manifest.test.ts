// SPDX-License-Identifier: MPL-2.0
import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, readVectors, toHex } from '../../test/vectors.ts';
import { CHUNK_BYTES, MAX_PAGE_BYTES, MAX_SPARSE_BYTES } from '../limits.ts';
import { decodePage, type Entry, type EntryType, encodePage, PageWriter, TOP } from './manifest.ts';

type EntryVector = Omit<Entry, 'mtimeNs'> & { mtimeNs: string };
const { pages } = readVectors<{ pages: { name: string; entries: EntryVector[]; hex: string }[] }>('manifest');
const refused = readVectors<{ pages: { name: string; hex: string; code: string }[] }>('manifest-refused');

const entryOf = (vector: EntryVector): Entry => ({ ...vector, mtimeNs: BigInt(vector.mtimeNs) });
const file = (name: string, more: Partial<Entry> = {}): Entry => ({
  type: 'file',
  mode: 0o644,
  parent: TOP,
  mtimeNs: 0n,
  size: 0,
  name,
  ...more,
});

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..' && Buffer.byteLength(text) <= 255);
const fields = {
  mode: fc.integer({ min: 0, max: 0o777 }),
  parent: fc.integer({ min: 0, max: 2 ** 22 }),
  mtimeNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  name,
};
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ type: fc.constant<EntryType>('file'), size: fc.maxSafeNat(), ...fields }),
  fc.record({
    type: fc.constant<EntryType>('file'),
    size: fc.integer({ min: CHUNK_BYTES + 1, max: MAX_SPARSE_BYTES }),
    ...fields,
    sparse: fc.constant<true>(true),
  }),
  fc.record({ type: fc.constantFrom<EntryType>('directory', 'stream'), size: fc.constant(0), ...fields }),
  fc.record({ type: fc.constant<EntryType>('symlink'), size: fc.constant(0), ...fields, target: name }),
);

describe('a manifest page', () => {
  it.each(pages)('matches the vector: $name', ({ entries, hex }) => {
    expect(toHex(encodePage(entries.map(entryOf)))).toBe(hex.replaceAll(' ', ''));
    expect(decodePage(fromHex(hex), 0)).toEqual(entries.map(entryOf));
  });

  it.each(refused.pages)('is refused with $code: $name', ({ hex, code }) => {
    expect(() => decodePage(fromHex(hex), 17)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(/^Entry 1[78][ ,]/) }),
    );
  });

  it('is read back unchanged', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        expect(decodePage(encodePage(entries), 0)).toEqual(entries);
      }),
    );
  });

  it('is read from the middle of a larger array', () => {
    const page = encodePage([file('a'), file('b')]);
    const padded = new Uint8Array(page.length + 6).fill(0xee);
    padded.set(page, 3);
    expect(decodePage(padded.subarray(3, 3 + page.length), 0)).toEqual([file('a'), file('b')]);
  });

  it('is decoded, or refused with a named error, for any bytes', () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(255), (entries, where, value) => {
        const page = encodePage(entries);
        page[where % page.length] = value;
        try {
          const decoded = decodePage(page, 0);
          expect(encodePage(decoded)).toEqual(page);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^TRANSFER_(PATH_REFUSED|LIMIT_EXCEEDED)$/) });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is refused if it is cut inside an entry', () => {
    const entries = [file('a'), file('link', { type: 'symlink', target: 't' }), file('c')];
    const page = encodePage(entries);
    const ends = [0, 1, 2, 3].map((count) => encodePage(entries.slice(0, count)).length);
    for (let length = 0; length <= page.length; length++) {
      const cut = () => decodePage(page.subarray(0, length), 0);
      if (ends.includes(length)) expect(cut().length).toBe(ends.indexOf(length));
      else expect(cut, `cut at ${length}`).toThrow(expect.objectContaining({ code: 'TRANSFER_PATH_REFUSED' }));
    }
  });

  it('is refused over MAX_PAGE_BYTES before decoding', () => {
    expect(() => decodePage(new Uint8Array(MAX_PAGE_BYTES + 1), 0)).toThrow(
      expect.objectContaining({ code: 'TRANSFER_LIMIT_EXCEEDED' }),
    );
  });
});

describe('encodePage', () => {
  it.each<[string, Entry, string]>([
    ['an empty name', file(''), 'TRANSFER_PATH_REFUSED'],
    ['a path for a name', file('a/b'), 'TRANSFER_PATH_REFUSED'],
    ['a name that is not Unicode', file('\ud800'), 'TRANSFER_PATH_REFUSED'],
    ['a mode with setuid', file('a', { mode: 0o4755 }), 'TRANSFER_PATH_REFUSED'],
    ['a negative size', file('a', { size: -1 }), 'TRANSFER_LIMIT_EXCEEDED'],
    ['a size over 2^53 - 1', file('a', { size: 2 ** 53 }), 'TRANSFER_LIMIT_EXCEEDED'],
    ['a size that is not a number', file('a', { size: Number.NaN }), 'TRANSFER_LIMIT_EXCEEDED'],
    ['a directory with a size', file('a', { type: 'directory', size: 1 }), 'TRANSFER_PATH_REFUSED'],
    ['a symlink without a target', file('a', { type: 'symlink' }), 'TRANSFER_PATH_REFUSED'],
    ['a file with a target', file('a', { target: 'b' }), 'TRANSFER_PATH_REFUSED'],
    ['an empty target', file('a', { type: 'symlink', target: '' }), 'TRANSFER_PATH_REFUSED'],
    ['a target with a NUL', file('a', { type: 'symlink', target: 'b\0' }), 'TRANSFER_PATH_REFUSED'],
    ['a target that is not Unicode', file('a', { type: 'symlink', target: '\udc00' }), 'TRANSFER_PATH_REFUSED'],
    ['a target too long', file('a', { type: 'symlink', target: 'é'.repeat(2048) }), 'TRANSFER_LIMIT_EXCEEDED'],
  ])('refuses %s, as every receiver would', (_, bad, code) => {
    expect(() => encodePage([bad])).toThrow(expect.objectContaining({ code }));
  });

  it('accepts a target of 4095 bytes', () => {
    const link = file('a', { type: 'symlink', target: 'x'.repeat(4095) });
    expect(decodePage(encodePage([link]), 0)).toEqual([link]);
  });
});

describe('PageWriter', () => {
  it('fills pages to the last byte and loses no entry between them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 4095 }), { minLength: 150, maxLength: 300 }), (lengths) => {
        const entries = lengths.map((length, i) => file(`l${i}`, { type: 'symlink', target: 'x'.repeat(length) }));
        const writer = new PageWriter();
        const pages: Uint8Array[] = [];
        entries.forEach((next, i) => {
          if (writer.tryAdd(next, i)) return;
          pages.push(writer.take());
          expect((pages.at(-1) as Uint8Array).length + encodePage([next]).length).toBeGreaterThan(MAX_PAGE_BYTES);
          expect(writer.tryAdd(next, i)).toBe(true);
        });
        expect(writer.entries).toBeGreaterThan(0);
        pages.push(writer.take());
        expect(writer.entries).toBe(0);
        expect(pages.every((page) => page.length <= MAX_PAGE_BYTES)).toBe(true);
        expect(pages.flatMap((page) => decodePage(page, 0))).toEqual(entries);
      }),
      { numRuns: 20 },
    );
  });

  it('returns pages that later entries do not change', () => {
    const writer = new PageWriter();
    writer.tryAdd(file('a'), 0);
    const first = writer.take();
    writer.tryAdd(file('b'), 1);
    expect(decodePage(first, 0)).toEqual([file('a')]);
  });
});
