// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openRecord, sealRecord } from './sealed-record.ts';

const key = new Uint8Array(32).fill(7);
const record = new Uint8Array(32).fill(9);

describe('a sealed record', () => {
  it('opens with its key under its name, and shows neither in the clear', async () => {
    const file = await sealRecord(record, key, 'name');
    expect(await openRecord(file, key, 'name')).toEqual(record);
    expect(await sealRecord(record, key, 'name')).not.toEqual(file);
    expect(Buffer.from(file).includes(Buffer.from(record))).toBe(false);
    expect(await openRecord(file, key, 'other')).toBeUndefined();
    expect(await openRecord(file, record, 'name')).toBeUndefined();
  });

  it('does not open when a byte is changed or cut off', async () => {
    const file = await sealRecord(record, key, 'name');
    for (let at = 0; at < file.length; at++) {
      const altered = file.slice();
      altered[at] = (altered[at] as number) ^ 1;
      expect(await openRecord(altered, key, 'name')).toBeUndefined();
      expect(await openRecord(file.subarray(0, at), key, 'name')).toBeUndefined();
    }
  });

  it('yields undefined for foreign bytes', async () => {
    const bytes = fc.uint8Array({ maxLength: 120 });
    const beginning = fc.constantFrom(new Uint8Array(), Buffer.from('KDGS'), Buffer.from('KDGS\x01'));
    await fc.assert(
      fc.asyncProperty(beginning, bytes, async (start, rest) => {
        expect(await openRecord(Uint8Array.of(...start, ...rest), key, 'name')).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});
