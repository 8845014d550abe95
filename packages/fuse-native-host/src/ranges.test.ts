// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Ranges } from './ranges.ts';

const MOST = 60;
const part = fc.tuple(fc.nat(MOST), fc.nat(MOST)).map(([one, other]) => [Math.min(one, other), Math.max(one, other)]);
const step = fc.oneof({ weight: 5, arbitrary: part }, { weight: 1, arbitrary: fc.nat(MOST) });

it('is the set of all bytes that were added and not cut off, in as few parts as there can be', () => {
  fc.assert(
    fc.property(fc.array(step), part, (steps, [from = 0, to = 0]) => {
      const ranges = new Ranges();
      const bytes = new Set<number>();
      for (const one of steps) {
        if (typeof one === 'number') {
          ranges.cut(one);
          for (const byte of [...bytes]) if (byte >= one) bytes.delete(byte);
        } else {
          const [start = 0, end = 0] = one;
          ranges.add(start, end);
          for (let byte = start; byte < end; byte++) bytes.add(byte);
        }
      }
      const all = (list: { start: number; end: number }[]) =>
        list.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
      const list = ranges.list();
      expect(all(list)).toEqual([...bytes].sort((one, other) => one - other));
      expect(ranges.bytes).toBe(bytes.size);
      for (const [i, { start }] of list.entries()) expect(start).toBeGreaterThan(list[i - 1]?.end ?? -1);
      const missing = Array.from({ length: to - from }, (_, i) => from + i).filter((byte) => !bytes.has(byte));
      expect(all(ranges.holes(from, to))).toEqual(missing);
    }),
  );
});
