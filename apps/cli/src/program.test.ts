// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { createRecordedIo } from '../test/recorded-io.ts';
import { COMMANDS } from './commands.ts';
import { TOPICS } from './help/topics.ts';
import { createProgram } from './program.ts';

const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');

/** Parses without running: returns the command and its options. */
async function parsed(line: string): Promise<unknown> {
  let seen: unknown;
  const program = createProgram(createRecordedIo(), async ({ name }, options) => {
    seen = { command: name, ...options };
  });
  await program.parseAsync(words(line), { from: 'user' });
  return seen;
}

const code = { nameplate: '7', words: ['guitar', 'pencil'], text: '7-guitar-pencil' };
const MIB = 2 ** 20;
const send = { command: 'send', paths: ['a'], stdin: false, receivers: 1 };
const receive = { command: 'receive', code, yes: false, collisions: 'rename' };

describe('argv becomes options', () => {
  it.each<[string, object]>([
    ['send a', send],
    ['connect 7 guitar pencil', { command: 'connect', code }],
    ['connect --leave photos', { command: 'connect', leave: 'photos' }],
    ['connect', { command: 'connect' }],
    ['connect -', { command: 'connect', codeFromStdin: true }],
    ['mount - photos', { command: 'mount', target: '-', dir: 'photos' }],
    ['list', { command: 'list' }],
    ['list photos/x --watch', { command: 'list', path: 'photos/x', watch: true }],
    ['pull photos/x', { command: 'pull', path: 'photos/x', collisions: 'rename' }],
    ['pull x out --skip --timeout 1m', { command: 'pull', path: 'x', dir: 'out', collisions: 'skip', timeout: '1m' }],
    ['add d --read-only', { command: 'add', dir: 'd', readOnly: true }],
    ['share d', { command: 'share', dir: 'd', readOnly: false }],
    ['share d --read-only --code 7-Guitar-pencil', { command: 'share', dir: 'd', readOnly: true, code }],
    ['desktop', { command: 'desktop', what: [], download: true }],
    ['desktop a --no-download', { command: 'desktop', what: ['a'], download: false }],
    ['integrate --autostart', { command: 'integrate', autostart: true }],
    ['relay', { command: 'relay' }],
    ['relay --listen 127.0.0.1:0 --json -v', { command: 'relay', listen: '127.0.0.1:0', json: true, verbose: true }],
    ['contacts', { command: 'contacts', action: 'list' }],
    ['contacts list --json --config d', { command: 'contacts', action: 'list', json: true, config: 'd' }],
    [
      `contacts add Ann ${'A'.repeat(86)}`,
      { command: 'contacts', action: 'add', name: 'Ann', fingerprint: new Uint8Array(64) },
    ],
    ['contacts rename Ann Anna', { command: 'contacts', action: 'rename', name: 'Ann', to: 'Anna' }],
    ['contacts remove Ann', { command: 'contacts', action: 'remove', name: 'Ann' }],
    ['contacts verify Ann -y --undo', { command: 'contacts', action: 'verify', name: 'Ann', yes: true, undo: true }],
    ['contacts block Ann', { command: 'contacts', action: 'block', name: 'Ann' }],
    ['contacts rule Ann accept in', { command: 'contacts', action: 'rule', name: 'Ann', rule: 'accept', folder: 'in' }],
    ['contacts rule Ann never', { command: 'contacts', action: 'rule', name: 'Ann', rule: 'never' }],
    ['id', { command: 'id', action: 'show' }],
    ['id show --json', { command: 'id', action: 'show', json: true }],
    ['id rotate --yes --config d', { command: 'id', action: 'rotate', yes: true, config: 'd' }],
    ['id passphrase --remove', { command: 'id', action: 'passphrase', remove: true }],
    ['id export f --passphrase-file p', { command: 'id', action: 'export', file: 'f', passphraseFile: 'p' }],
    ['id import f --replace', { command: 'id', action: 'import', file: 'f', replace: true }],
    ['send a b/c', { ...send, paths: ['a', 'b/c'] }],
    ['send -', { ...send, paths: [], stdin: true }],
    ['send --text hello', { ...send, paths: [], text: 'hello' }],
    ['send -- --odd', { ...send, paths: ['--odd'] }],
    ['send a --code 7-Guitar-pencil', { ...send, code }],
    [
      'send a --code 7-a-b --insecure-code',
      { ...send, code: { nameplate: '7', words: ['a', 'b'], text: '7-a-b' }, insecureCode: true },
    ],
    ['send a --code-length 4', { ...send, codeLength: '4' }],
    ['send a --listen 127.0.0.1:0', { ...send, listen: '127.0.0.1:0' }],
    ['send a --receivers 0', { ...send, receivers: 0 }],
    ['send --receivers=12 a', { ...send, receivers: 12 }],
    ['send a --suite chacha20-poly1305', { ...send, suite: 'chacha20-poly1305' }],
    ['send a --limit 10M', { ...send, limit: '10M' }],
    ['send a --discovery off --direct-only', { ...send, discovery: 'off', directOnly: true }],
    ['send a --relay-only', { ...send, relayOnly: true }],
    ['send a --rendezvous h:1 --config d', { ...send, rendezvous: 'h:1', config: 'd' }],
    ['send a --json --verbose', { ...send, json: true, verbose: true }],
    ['send a -q', { ...send, quiet: true }],
    ['receive 7-guitar-pencil', receive],
    ['receive 7 guitar pencil', receive],
    ['receive', { command: 'receive', yes: false, collisions: 'rename' }],
    ['receive - --yes', { command: 'receive', codeFromStdin: true, yes: true, collisions: 'rename' }],
    ['receive 7-guitar-pencil --out d --yes', { ...receive, out: 'd', yes: true }],
    ['receive -y -o d 7-guitar-pencil', { ...receive, out: 'd', yes: true }],
    ['receive 7-guitar-pencil --connect [::1]:9', { ...receive, connect: '[::1]:9' }],
    ['receive 7-guitar-pencil --overwrite', { ...receive, collisions: 'overwrite' }],
    ['receive 7-guitar-pencil --skip', { ...receive, collisions: 'skip' }],
    ['receive 7-guitar-pencil --ask', { ...receive, collisions: 'ask' }],
    ['receive 7-guitar-pencil --verify', { ...receive, verify: true }],
    ['receive 7-guitar-pencil --stdout', { ...receive, stdout: true }],
    ['receive 7-guitar-pencil --json', { ...receive, json: true }],
    ['bench', { command: 'bench', mode: 'alone', size: 256 * MIB }],
    ['bench --dir d --size 1.5G -q', { command: 'bench', mode: 'alone', size: 1536 * MIB, dir: 'd', quiet: true }],
    ['bench --wait', { command: 'bench', mode: 'wait', size: 256 * MIB }],
    [
      'bench --wait --size 8MiB --code 7-guitar-pencil --insecure-code --listen 1 --suite aes-256-gcm',
      { command: 'bench', mode: 'wait', size: 8 * MIB, code, insecureCode: true, listen: '1', suite: 'aes-256-gcm' },
    ],
    ['bench --wait --code-length 3', { command: 'bench', mode: 'wait', size: 256 * MIB, codeLength: '3' }],
    ['bench 7 guitar pencil', { command: 'bench', mode: 'against', code }],
    [
      'bench 7-guitar-pencil --connect h:1 --json',
      { command: 'bench', mode: 'against', code, connect: 'h:1', json: true },
    ],
    ['daemon --config d', { command: 'daemon', config: 'd' }],
    ['transfers', { command: 'transfers' }],
    ['transfers pause 3', { command: 'transfers', action: 'pause', id: 3 }],
    ['history', { command: 'history', limit: 20 }],
    ['ui --no-open', { command: 'ui', open: false }],
    ['doctor', { command: 'doctor' }],
    [
      'doctor --json --listen 1 --out d --config c',
      { command: 'doctor', json: true, listen: '1', out: 'd', config: 'c' },
    ],
  ])('%s', async (line, options) => expect(await parsed(line)).toEqual(options));
});

describe('invalid argv', () => {
  it.each([
    ['send', 'USAGE', 'keibidrop send photos'],
    ['send a --text b', 'USAGE', 'not both'],
    ['send --text=', 'USAGE', 'empty'],
    ['send - a', 'USAGE', 'alone'],
    ['send - --background', 'USAGE', 'background'],
    ['send - --receivers 2', 'USAGE', 'one receiver'],
    ['send - --receivers 0', 'USAGE', 'one receiver'],
    ['send - --to Ann --to Bea', 'USAGE', 'one contact'],
    ['send a --now', 'USAGE', '--now'],
    ['transfers pause', 'USAGE', 'number'],
    ['history --limit many', 'USAGE', '--limit'],
    ['send a --receivers many', 'USAGE', '--receivers'],
    ['send a --receivers -1', 'USAGE', '--receivers'],
    ['send a --code 7', 'CODE_MALFORMED', 'code'],
    ['receive 7-a', 'CODE_MALFORMED', 'code'],
    ['bench 7-a', 'CODE_MALFORMED', 'code'],
    ['bench 7-a-b --wait', 'USAGE', 'not both'],
    ['bench 7-a-b --size 1G', 'USAGE', '--size is for the waiting side'],
    ['bench 7-a-b --listen 1', 'USAGE', '--listen'],
    ['bench --code 7-a-b', 'USAGE', '--wait'],
    ['bench --connect h:1', 'USAGE', 'keibidrop bench CODE'],
    ['bench --size 10X', 'USAGE', '"10X"'],
  ])('%s is refused as %s', async (line, errorCode, part) => {
    const error = await parsed(line).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(KeibiError);
    expect(error).toMatchObject({ code: errorCode, message: expect.stringContaining(part) });
  });

  it.each([
    ['send a --recievers 2', '--receivers'],
    ['receive 7-a-b --overwite', '--overwrite'],
    ['sned a', 'send'],
    ['share', 'Name a folder to share'],
    ['connect 7-guitar-pencil --leave photos', '--leave takes no code'],
    ['pull', 'Name a file or folder to pull'],
    ['add', 'Say what to share'],
    ['send a --suite rot13', 'aes-256-gcm'],
    ['send a --code 7-a-b --code-length 3', '--code-length'],
    ['receive 7-a-b --overwrite --skip', '--skip'],
    ['receive 7-a-b --skip --ask', '--ask'],
    ['receive 7-a-b --stdout --json', '--stdout'],
    ['receive 7-a-b --stdout --out d', '--stdout'],
    ['receive 7-a-b --ask --json', '--ask'],
    ['send a --direct-only --relay-only', '--relay-only'],
    ['send a --quiet --verbose', '--quiet'],
    ['doctor now', 'arguments'],
  ])('%s is refused with a hint at %s', async (line, part) => {
    await expect(parsed(line)).rejects.toThrow(part);
  });
});

describe('help', () => {
  const helpOf = async (line: string): Promise<string> => {
    const io = createRecordedIo();
    const program = createProgram(io, async () => {});
    await expect(program.parseAsync(words(line), { from: 'user' })).rejects.toMatchObject({ exitCode: 0 });
    return io.printed.stdout;
  };

  const verbs = Object.values(COMMANDS).flat();

  it.each(['--help', 'help send', ...verbs.map(({ name }) => `${name} --help`)])(
    'of "%s" fits 80 columns and has examples and the exit codes',
    async (line) => {
      const help = await helpOf(line);
      for (const row of help.split('\n')) expect(row.length, row).toBeLessThanOrEqual(80);
      expect(help).toContain('Examples:');
      expect(help).toContain('Exit codes:');
      expect(help).toMatch(/\b(KD|XDG)_/);
    },
  );

  it('lists every command in its group', async () => {
    const help = await helpOf('--help');
    for (const [group, commands] of Object.entries(COMMANDS)) {
      const [, rows = ''] = help.split(`\n${group}:\n`);
      const listed = [...(rows.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z]+)/gm)].map(([, verb]) => verb);
      expect(listed.filter((verb) => verb !== 'help')).toEqual(commands.map(({ name }) => name));
    }
  });

  it.each(Object.entries(TOPICS))(
    'on %s fits a page of 80 columns, and names commands that parse',
    async (name, { text }) => {
      const io = createRecordedIo();
      await createProgram(io, async () => {}).parseAsync(['help', name], { from: 'user' });
      expect(io.printed.stdout).toBe(text);
      const rows = text.split('\n');
      expect(rows.length).toBeLessThanOrEqual(46);
      for (const row of rows) expect(row.length, row).toBeLessThanOrEqual(80);
      const examples = rows.flatMap((row) => /^ {2}(?:KD_\w+=\S+ )?keibidrop (.*?)(?: {2,}|$)/.exec(row)?.[1] ?? []);
      expect(examples.length).toBeGreaterThanOrEqual(2);
      for (const example of examples) expect(await parsed(example), example).toBeDefined();
    },
  );

  it('names every topic, and refuses a word that is none', async () => {
    for (const name of Object.keys(TOPICS)) expect(await helpOf('--help')).toContain(name);
    const error = await createProgram(createRecordedIo(), async () => {})
      .parseAsync(['help', 'constructor'], { from: 'user' })
      .catch((reason: unknown) => reason);
    const message = expect.stringContaining(Object.keys(TOPICS).join(', '));
    expect(error).toMatchObject({ code: 'USAGE', message });
  });

  it('shows examples that parse', async () => {
    const pages = await Promise.all(['--help', ...verbs.map(({ name }) => `${name} --help`)].map(helpOf));
    const lines = pages.flatMap((page) => page.split('Examples:')[1]?.split('\n\n')[0]?.trim().split('\n') ?? []);
    const examples = lines.flatMap((line) => /(?:^| )keibidrop (.*?)(?: {2,}| [|<]|$)/.exec(line)?.[1] ?? []);
    expect(examples.length).toBeGreaterThanOrEqual(60);
    for (const example of examples.filter((one) => !/--help$|^help /.test(one))) {
      const line = example.replace(/'[^']*'/, 'text').replace('FINGERPRINT', 'A'.repeat(86));
      expect(await parsed(line), line).toBeDefined();
    }
  });
});
