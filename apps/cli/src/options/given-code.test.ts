// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { createRecordedIo, type RecordedIoOptions } from '../../test/recorded-io.ts';
import { createScriptedPeer } from '../../test/scripted-peer.ts';
import { runCommandLine } from '../command-line.ts';

async function run(argv: string[], options: RecordedIoOptions = {}) {
  const io = createRecordedIo({ ...options, env: { KD_CONFIG_DIR: '/nonexistent', ...options.env } });
  const { peer, asked } = createScriptedPeer({});
  return { exit: await runCommandLine(argv, io, async () => peer), asked, ...io.printed };
}

describe('outside the arguments', () => {
  it.each([
    ['standard input', ['receive', '-', '--yes'], { input: [Buffer.from('7-guitar'), Buffer.from('-pencil\nmore')] }],
    ['KD_CODE', ['receive', '--yes'], { env: { KD_CODE: '7-guitar-pencil' } }],
    ['the terminal', ['receive', '--yes'], { terminal: true, answers: ['7-guitar', '7 Guitar pencil'] }],
  ])('reads a code from %s', async (_, argv, options: RecordedIoOptions) => {
    const { asked, exit } = await run(argv, options);
    expect(exit).toBe(0);
    expect(asked.receive?.code.text).toBe('7-guitar-pencil');
  });

  it.each([
    [['receive', '--yes'], 'receive'],
    [['connect'], 'connect'],
  ])('%j explains how to give a code without a terminal', async (argv, verb) => {
    const { exit, stderr } = await run(argv);
    expect(exit).toBe(2);
    expect(stderr).toContain(`KD_CODE, or as in keibidrop ${verb} 7-guitar-pencil`);
  });

  it('reads a text from standard input', async () => {
    const { asked } = await run(['send', '--text', '-'], { input: [Buffer.from('from '), Buffer.from('a pipe')] });
    expect(asked.send?.text).toBe('from a pipe');
    expect(await run(['send', '--text', '-'])).toMatchObject({ exit: 2, stderr: expect.stringContaining('empty') });
    const long = await run(['send', '--text', '-'], { input: [Buffer.alloc(2 ** 20 + 1)] });
    expect(long.exit).toBe(1);
  });
});
