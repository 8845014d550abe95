// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { createRecordedIo, type RecordedIo, type RecordedIoOptions } from '../../test/recorded-io.ts';
import { createScriptedPeer } from '../../test/scripted-peer.ts';
import { runCommandLine } from '../command-line.ts';
import { nearbySenders } from '../display/nearby-senders.ts';

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

describe('while receive asks for a code', () => {
  const at = (address: string, name?: string) =>
    ({ path: name === undefined ? 'local' : 'lan', address, ...(name && { name }) }) as const;

  it('lists who is sending nearby, each once, by its IPv4 address', async () => {
    const senders = [at('127.0.0.1:26431'), at('[fe80::7%eth0]:26431', 'a1'), at('192.168.1.20:26431', 'a1')];
    const io = createRecordedIo({ terminal: true, env: { KD_CONFIG_DIR: '/nonexistent' } });
    const told: string[] = [];
    const { peer } = createScriptedPeer({ senders });
    const asking: RecordedIo = {
      ...io,
      async askCode(_question, onAsked) {
        onAsked?.((text) => told.push(text));
        await expect.poll(() => told.length).toBe(2);
        return '7-guitar-pencil';
      },
    };
    expect(await runCommandLine(['receive', '--yes', '--incognito'], asking, async () => peer)).toBe(0);
    expect(told).toEqual(['This computer, port 26431, is sending.', '192.168.1.20 is sending.']);
  });

  it('says that no sender is heard, and searches further', async () => {
    const { tellTo, end } = nearbySenders(createScriptedPeer({}).peer, {
      discovery: 'auto',
      signal: new AbortController().signal,
    });
    const told: string[] = [];
    tellTo((text) => told.push(text));
    await expect.poll(() => told).toEqual([expect.stringMatching(/^No sender is heard/)]);
    end();
  });
});
