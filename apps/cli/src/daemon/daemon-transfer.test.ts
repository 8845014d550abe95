// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon';
import { describe, expect, it } from 'vitest';
import { createRecordedIo } from '../../test/recorded-io.ts';
import { reportEnded } from './daemon-transfer.ts';

describe('the end of a transfer of the daemon', () => {
  it.each([
    [{ files: 2, skipped: 0, bytes: 5 }, 'Received 2 files, 5 B into /in.\n'],
    [{ files: 501, skipped: 501, bytes: 900 }, 'Received nothing new into /in: 501 files were already present.\n'],
    [{ files: 3, skipped: 1, bytes: 9 }, 'Received 2 files into /in; 1 file was already present.\n'],
  ])('%o does not count existing files as received', (numbers, said) => {
    const io = createRecordedIo();
    const view = { kind: 'receive', state: 'done', place: '/in', ...numbers } as TransferView;
    expect(reportEnded(view, io, { event: 'pulled' })).toBe(0);
    expect(io.printed.stdout).toBe(said);
  });
});
