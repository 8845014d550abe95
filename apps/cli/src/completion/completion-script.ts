// SPDX-License-Identifier: MPL-2.0
import type { Command } from 'commander';
import { TOPICS } from '../help/topics.ts';
import { bashCompletion } from './bash.ts';
import { defineProgram } from './definitions.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** The completion for a shell, from the declared commands of `program`. */
export function completionScript(shell: keyof typeof SCRIPTS, program: Command): string {
  return SCRIPTS[shell](defineProgram(program, Object.keys(TOPICS)));
}
