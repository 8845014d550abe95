// SPDX-License-Identifier: MPL-2.0
import { Command, Option } from 'commander';
import type { CliCommand } from './command.ts';
import { COMMANDS } from './commands.ts';
import { printManual, showHelp } from './help/show-help.ts';
import type { Io } from './terminal/io.ts';
import { VERSION } from './version.ts';

/** Called with the command that was typed and its parsed options. */
type OnCommand = <Options>(command: CliCommand<Options>, options: Options) => Promise<void>;

const AFTER_HELP = `
Examples:
  keibidrop send photos movie.mkv       prints a code such as 7-guitar-pencil
  keibidrop receive 7-guitar-pencil     on the other computer
  keibidrop doctor                      check this machine
  keibidrop bench                       measure the speed, and find the limit
  keibidrop send --help                 options and examples of a command
  keibidrop help codes                  or contacts, mounts, relays, firewalls

Settings: flags beat the environment (KD_RENDEZVOUS KD_LISTEN KD_CONFIG_DIR
KD_SAVE_PATH KD_DISCOVERY KD_LOG), which beats config.toml in the directory of
--config, with the keys rendezvous, listen, save_path, discovery, log, limit,
code_length, label, history_entries and history_days.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused or wrong code, 4 peer or server
not reachable, 5 interrupted but resumable, 6 mount not available, 70 a bug of
ours, 130 Ctrl-C.
`;

/**
 * Builds the parser of the command line; runs nothing.
 *
 * @param word  the first one that was typed: if it names a command, only that one is declared, since all take 4 ms
 *
 * Its `parseAsync` throws CommanderError for help, the version and usage errors, and KeibiError for invalid values.
 */
export function createProgram(
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  onCommand: OnCommand,
  word?: string,
): Command {
  const program = new Command('keibidrop')
    .description('Send files to another computer, directly and end-to-end encrypted.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .helpCommand(false)
    // The caller prints errors once, as text or as --json.
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns(),
      getErrHelpWidth: () => stderr.columns(),
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
  const typed = Object.values(COMMANDS)
    .flat()
    .find(({ name }) => name === word);
  for (const [group, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${group}:`);
    for (const command of typed === undefined || typed.needsAll
      ? commands
      : commands.filter((each) => each === typed)) {
      command.declare(program.command(command.name), (options) => onCommand(command, options));
    }
  }
  program
    .command('help')
    .description('show help for a command or a topic')
    .argument('[command or topic]')
    .addOption(new Option('--man', 'print the manual page, for man -l -'))
    .action((word: string | undefined, { man }: { man?: boolean }) =>
      man === true ? printManual(program, stdout) : showHelp(program, word, stdout),
    );
  return program;
}
