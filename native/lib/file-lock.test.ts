// SPDX-License-Identifier: MPL-2.0
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tryLock } from './file-lock.ts';

it('lets one open file hold the lock at a time', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keibidrop-lock-'));
  const [one, other] = [openSync(join(directory, 'lock'), 'a'), openSync(join(directory, 'lock'), 'a')];
  expect([tryLock(one), tryLock(other), tryLock(one)]).toEqual([true, false, true]);
  closeSync(one);
  expect(tryLock(other)).toBe(true);
  closeSync(other);
  rmSync(directory, { recursive: true });
});

it('reports a descriptor that is not an open file', () => {
  expect(() => tryLock(-1)).toThrow('fd must be');
  expect(() => tryLock(2 ** 31 - 1)).toThrow(expect.objectContaining({ code: 'EBADF' }));
});
