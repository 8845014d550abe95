// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { createRecordedIo } from '../../test/recorded-io.ts';
import { BenchReport, limitSentence } from './bench-report.ts';

const MB = 1e6;
const write = { part: 'write', bytesPerSecond: 410 * MB } as const;
const open = { part: 'open', bytesPerSecond: 4400 * MB } as const;
const figures = [
  { type: 'start', bytes: 256 * MB, dir: '/tmp/\u001b[2J' },
  { type: 'measured', ...write },
  { type: 'measured', part: 'read', bytesPerSecond: 900 * MB, fromMemory: true },
  { type: 'measured', ...open, suite: 'chacha20-poly1305' },
  { type: 'roundTrip', seconds: 0.0241 },
  { type: 'measured', part: 'link', bytesPerSecond: 58 * MB },
  { type: 'limit', ...write, next: open, wholeBytesPerSecond: 400 * MB },
] as const;

function shown(options: { json?: boolean; quiet?: boolean }) {
  const io = createRecordedIo();
  const report = new BenchReport(io, options);
  for (const figure of figures) report.show(figure);
  return io.printed;
}

it('prints a table of at most 79 columns and one sentence', () => {
  const { stdout, stderr } = shown({});
  expect(stderr).toMatch(/^Measuring with files of 256 MB in \/tmp\/\\x1b\[2J, on \d+ cores?\.\n$/);
  expect(stdout).toBe(
    'disk    write                      410 MB/s  flushed to the disk\n' +
      '        read                       900 MB/s  kept in memory only\n' +
      'cipher  chacha20-poly1305 open     4.4 GB/s  one core\n' +
      'link    round trip                  24.1 ms  of a TCP connection\n' +
      '        sealed                    58.0 MB/s  memory to memory, not stored\n' +
      '\nWriting to the disk is the limit: 410 MB/s; the cipher could do 4.4 GB/s.\n',
  );
  for (const row of stdout.split('\n')) expect(row.length, row).toBeLessThan(80);
});

it('prints one JSON object per line with whole bytes', () => {
  const lines = shown({ json: true })
    .stdout.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(figures.map(({ type }) => type));
  expect(lines[4]).toEqual({ event: 'roundTrip', seconds: 0.0241 });
  expect(lines.at(-1)).toEqual({
    event: 'limit',
    ...write,
    next: open,
    wholeBytesPerSecond: 400 * MB,
    message: expect.stringContaining('Writing to the disk is the limit'),
  });
});

it('still prints results if quiet', () => {
  const { stdout, stderr } = shown({ quiet: true });
  expect({ lines: stdout.split('\n').length, stderr }).toEqual({ lines: 8, stderr: '' });
});

it.each([
  [
    { part: 'sharing', bytesPerSecond: 200 * MB, next: write },
    'No single part is the limit; all of them together are: 200 MB/s; writing to the disk could do 410 MB/s.',
  ],
  [
    { ...write, next: open },
    'Writing to the disk is the limit: 410 MB/s; the cipher could do 4.4 GB/s. ' +
      'Data that fits into memory arrives at 900 MB/s, before it is flushed.',
  ],
  [{ part: 'link', bytesPerSecond: MB }, 'The link is the limit: 1.0 MB/s.'],
] as const)('names the limit: %o', (limit, sentence) => {
  expect(limitSentence({ type: 'limit', ...limit, wholeBytesPerSecond: 900 * MB })).toBe(sentence);
});

it('breaks a long sentence between words', () => {
  const io = createRecordedIo({ columns: 40 });
  new BenchReport(io, {}).show({ type: 'limit', ...write, next: open, wholeBytesPerSecond: 0 });
  expect(io.printed.stdout).toBe('\nWriting to the disk is the limit: 410\nMB/s; the cipher could do 4.4 GB/s.\n');
});
