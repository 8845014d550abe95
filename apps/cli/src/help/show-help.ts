// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { Command } from 'commander';
import type { Screen } from '../terminal/io.ts';
import { quoted } from '../terminal/terminal-text.ts';
import { VERSION } from '../version.ts';
import { suggestion } from './suggestion.ts';

/**
 * Prints a topic, or the help of a command; without a word, that of the whole program.
 *
 * @throws USAGE for an unknown word; CommanderError after a command's help
 */
export async function showHelp(program: Command, word: string | undefined, stdout: Pick<Screen, 'write'>) {
  if (word === undefined) return program.help();
  const { TOPICS } = await import('./topics.ts');
  const topic = Object.entries(TOPICS).find(([name]) => name === word)?.[1];
  if (topic !== undefined) return stdout.write(topic.text);
  const command = program.commands.find((each) => each.name() === word);
  if (command !== undefined) return command.help();
  throw unknownTopic(word, Object.keys(TOPICS), program);
}

function unknownTopic(word: string, topics: readonly string[], program: Command): KeibiError {
  const hint = suggestion(word, [...topics, ...program.commands.map((command) => command.name())]);
  const text = `There is no help on ${quoted(word)}.${hint} Topics are ${topics.join(', ')}; keibidrop --help lists the commands.`;
  return new KeibiError('USAGE', text);
}

/** Prints keibidrop(1) in the format of man(7). */
export async function printManual(program: Command, stdout: Pick<Screen, 'write'>): Promise<void> {
  const { manualPage } = await import('../manual/manual.ts');
  stdout.write(manualPage(program, VERSION));
}
