// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Running } from '../harness/running.ts';
import { Sandbox } from '../harness/sandbox.ts';
import { Names, type ShownCommand, sessionOf } from './replay.ts';

const DOCUMENT = new URL('../../docs/AGENTS.md', import.meta.url);
/** Longest run of one command; those that wait for a person get a limit of their own. */
const LONGEST_MS = 240_000;

describe('the session of docs/AGENTS.md', async () => {
  const session = sessionOf(await readFile(DOCUMENT, 'utf8'));
  const names = new Names();
  const running: { command: ShownCommand; process: Running }[] = [];
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    for (const who of new Set(session.map((command) => command.who))) await mkdir(sandbox.path(who));
    await mkdir(sandbox.path('alice', 'photos'));
    await writeFile(sandbox.path('alice', 'report.pdf'), 'the whole report');
    await writeFile(sandbox.path('alice', 'photos', 'cat.jpg'), 'a cat');
    await writeFile(sandbox.path('alice', 'photos', 'dog.jpg'), 'a dog');
  });
  afterAll(async () => {
    for (const who of new Set(session.map((command) => command.who))) await (await start(who, ['stop'])).ended;
    await sandbox.close();
  });

  function start(who: string, words: string[]): Promise<Running> {
    const env = { KD_CONFIG_DIR: sandbox.path(`${who}-config`), KD_LISTEN: '127.0.0.1:0', HOME: sandbox.path(who) };
    return sandbox.start(words, { env, under: ['env', '-C', sandbox.path(who)], timeoutMs: LONGEST_MS });
  }

  /** Compares the output of a command with the document, line by line. */
  async function compare({ command, process }: { command: ShownCommand; process: Running }): Promise<void> {
    const exit = await process.ended;
    const lines = process.events({ progress: true });
    for (const shown of command.shown) {
      const found = lines.findIndex((line) => names.match(shown, line));
      expect(found, `${JSON.stringify(shown)} in:\n${process.stdout}${process.stderr}`).not.toBe(-1);
      lines.splice(0, found + 1);
    }
    expect(exit, process.stdout + process.stderr).toBe(command.exit);
  }

  it.each(session.map((command) => [`${command.who}$ ${command.words.join(' ')}`, command] as const))(
    '%s',
    { timeout: LONGEST_MS },
    async (_, command) => {
      const [program, ...words] = command.words.map((word) => names.filled(word));
      expect(program).toBe('keibidrop');
      const process = await start(command.who, words);
      const begun = { command, process };
      if (!command.inBackground) return compare(begun);
      running.push(begun);
      // The next commands use its first line, which shows a code or that it listens.
      const [first] = command.shown;
      if (first !== undefined) names.match(first, await process.until(first.event as string));
    },
  );

  it('ends with the commands that ran in the background', { timeout: LONGEST_MS }, async () => {
    for (const each of running) await compare(each);
  });
});
