// SPDX-License-Identifier: MPL-2.0
import { Argument, type Command } from 'commander';
import type { CliCommand, OnRun } from '../command.ts';
import type { Io } from '../terminal/io.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `keibidrop completion`, parsed. */
export interface CompletionCommand {
  shell: (typeof SHELLS)[number];
  /** The parser with every command. */
  program: Command;
}

const AFTER_HELP = `
Examples:
  keibidrop completion bash
  keibidrop completion zsh
  keibidrop completion fish

The script completes commands, options and their values, paths, and names of
contacts. The deb and the rpm install it for all three shells. Otherwise write
it to where your shell looks for it:
  bash  ~/.local/share/bash-completion/completions/keibidrop
  zsh   the file _keibidrop in a folder of $fpath
  fish  ~/.config/fish/completions/keibidrop.fish
For the current bash or zsh alone: source <(keibidrop completion bash)

Environment: KD_CONFIG_DIR, whose contacts are completed
Exit codes: 0 done, 2 usage.
`;

export const command: CliCommand<CompletionCommand> = { name: 'completion', declare, run, needsAll: true };

function declare(command: Command, onRun: OnRun<CompletionCommand>): void {
  command
    .summary('print a script that completes commands in your shell')
    .description('Print a script with which a shell completes commands, options and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', AFTER_HELP)
    .action((shell: CompletionCommand['shell']) => onRun({ shell, program: command.parent ?? command }));
}

async function run({ shell, program }: CompletionCommand, io: Io): Promise<number> {
  const { completionScript } = await import('./completion-script.ts');
  io.stdout.write(completionScript(shell, program));
  return 0;
}
