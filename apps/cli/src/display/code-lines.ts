// SPDX-License-Identifier: MPL-2.0
import { fitted, type Io, paint } from '../terminal/io.ts';
import { columnsOf } from '../terminal/terminal-text.ts';

/** A code and, unless quiet, the command that takes it on the other computer, which gets a line of its own if need be. */
export function codeLines(code: string, verb: string, { stdout }: Pick<Io, 'stdout'>, quiet = false): string {
  const line = `Code: ${paint(stdout, 'bold', code)}\n`;
  return quiet ? line : line + commandLine(`keibidrop ${verb} ${code}`, stdout);
}

function commandLine(command: string, stdout: Io['stdout']): string {
  const lead = 'On the other computer:';
  const fits = !stdout.isTerminal || columnsOf(`${lead} ${command}`) < stdout.columns();
  return `${lead}${fits ? ' ' : '\n'}${paint(stdout, 'bold', fits ? command : fitted(stdout, command))}\n`;
}
