// SPDX-License-Identifier: MPL-2.0
import { Command } from 'commander';

/** ` Did you mean send?` if a candidate resembles `word`, else an empty text. Candidates are words without dashes. */
export function suggestion(word: string, candidates: readonly string[]): string {
  // Only the parser's own errors give access to its measure of similarity.
  const guess = new Command().exitOverride().configureOutput({ outputError: () => {} });
  for (const name of new Set(candidates)) guess.command(name);
  try {
    guess.helpCommand(false).parse([word], { from: 'user' });
    return '';
  } catch (error) {
    return hintIn(error instanceof Error ? error.message : '');
  }
}

/** ` Did you mean --all?` of a parser's "unknown option '--al'\n(Did you mean --all?)". */
export function hintIn(message: string): string {
  const [, hint] = /\n\((Did you mean .*)\)$/.exec(message) ?? [];
  return hint === undefined ? '' : ` ${hint}`;
}
