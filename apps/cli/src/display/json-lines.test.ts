// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { jsonErrorLine, lineOf } from './json-lines.ts';

const counts = { files: 3, bytes: 4096, skipped: 1, resumedBytes: 1024, seconds: 0.12345 };

it('keeps an event with newlines on one line', () => {
  expect(lineOf('text', { text: '1\n2\n' }).match(/\n/g)).toHaveLength(1);
});

it('ends a failed run with an error line that includes the counts', () => {
  const line = jsonErrorLine({ code: 'TRANSFER_INCOMPLETE', message: 'm' }, counts);
  expect(JSON.parse(line)).toEqual({
    event: 'error',
    code: 'TRANSFER_INCOMPLETE',
    message: 'm',
    ...counts,
    seconds: 0.123,
  });
});
