// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { createRecordedIo, type RecordedIoOptions } from '../../test/recorded-io.ts';
import { createScriptedPeer } from '../../test/scripted-peer.ts';
import { runCommandLine } from '../command-line.ts';

async function run(argv: string[], options: RecordedIoOptions = {}) {
  const io = createRecordedIo({ env: { KD_CONFIG_DIR: '/nonexistent' }, ...options });
  const { peer } = createScriptedPeer({ events: [{ type: 'code', code: '7-guitar-pencil' }] });
  const exit = await runCommandLine([...argv, '--incognito'], io, async () => peer);
  return { exit, ...io.printed };
}

describe('send --qr --copy', () => {
  const sized = (rows: number, more: RecordedIoOptions = {}) => ({ terminal: true, columns: 40, rows, ...more });

  it('shows the link of the code as a QR code, above a terminal of its size', async () => {
    const { stderr } = await run(['send', '.', '--qr'], sized(18));
    const { renderUnicodeCompact } = await import('uqr');
    expect(stderr).toBe(`${renderUnicodeCompact('keibidrop://receive/7-guitar-pencil', { ecc: 'L', border: 2 })}\n`);
  });

  it.each([
    ['it needs 34 columns and 18 rows', sized(17)],
    ['it needs 34 columns and 18 rows', sized(24, { columns: 33 })],
    ['not UTF-8', sized(24, { unicode: false })],
    ['no terminal', {}],
  ])('says that %s', async (why, options) => {
    const { stderr, exit } = await run(['send', '.', '--qr'], options);
    expect(stderr.replaceAll('\n', ' ')).toContain(`Warning: The QR code cannot be shown: `);
    expect(stderr.replaceAll('\n', ' ')).toContain(why);
    expect(exit).toBe(0);
  });

  it('asks the terminal to copy where there is no screen, and does not claim that it did', async () => {
    const { stderr } = await run(['send', '.', '--copy'], sized(24, { columns: 100 }));
    expect(stderr).toBe(
      `\u001b]52;c;${btoa('7-guitar-pencil')}\u0007The terminal was asked to copy the code, and may have done so.\n`,
    );
  });

  it('says why nothing was copied', async () => {
    const { stderr, exit } = await run(['send', '.', '--copy']);
    expect(stderr).toBe(
      'Warning: The code is not copied. Nothing here can write to a clipboard. There is no screen here.\n',
    );
    expect(exit).toBe(0);
  });

  it.each([['--json'], ['--quiet'], ['--background'], ['--to', 'Anna']])('are refused with %s', async (...more) => {
    for (const option of ['--qr', '--copy']) expect((await run(['send', '.', option, ...more])).exit).toBe(2);
  });
});
