// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { Command, CommanderError } from 'commander';
import { COMMANDS } from '../commands.ts';
import { hintIn, suggestion } from './suggestion.ts';

/** A usage error of the parser as one line in our style, with the nearest known word and the help to read. */
export function usageError(error: CommanderError, argv: readonly string[], program: Command): KeibiError {
  const typed = typedCommand(argv, program);
  return new KeibiError('USAGE', `${sentence(error, typed)} See ${nameOf(typed.command)} --help.`, { cause: error });
}

interface Typed {
  /** The named one; the program itself without a known name. */
  readonly command: Command;
  /** The one that parsed the rest: the default subcommand of `command`, or `command` itself. */
  readonly parsing: Command;
}

function typedCommand(argv: readonly string[], program: Command): Typed {
  const named = childOf(program, argv[0]);
  const sub = named && childOf(named, argv[1]);
  const command = sub ?? named ?? program;
  return { command, parsing: command.commands.find(({ args }) => args.length > 0) ?? command };
}

function childOf(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

/** `keibidrop contacts add` */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function sentence(error: CommanderError, typed: Typed): string {
  const { command, parsing } = typed;
  const [word = ''] = parsing.args;
  const inDefault = parsing !== command && parsing.args.length > 0 && !word.startsWith('-');
  if (inDefault) return unknownSubcommand(word, command);
  if (error.code === 'commander.excessArguments') return excess(parsing);
  if (error.code === 'commander.unknownOption') return unknownOption(error, parsing);
  if (error.code === 'commander.invalidArgument') return invalidChoice(error) ?? plain(error);
  return plain(error);
}

function unknownSubcommand(word: string, command: Command): string {
  const hint = suggestion(
    word,
    command.commands.map((each) => each.name()),
  );
  return `Unknown command '${nameOf(command)} ${word}'.${hint}`;
}

/** People type `history clear` for an option, and `daemon stop` for a command. */
function excess(parsing: Command): string {
  const { registeredArguments: places, args } = parsing;
  const extra = args[places.length] ?? '';
  const takes = ['none', 'at most one'][places.length] ?? `at most ${places.length}`;
  return `Unexpected argument '${extra}': ${nameOf(parsing)} takes ${takes}.${otherWay(extra, parsing)}`;
}

function otherWay(word: string, { options }: Command): string {
  const verb = Object.values(COMMANDS)
    .flat()
    .find(({ name }) => name === word);
  if (verb !== undefined) return ` Did you mean keibidrop ${word}?`;
  const long = options.flatMap((option) => option.long?.slice(2) ?? []).filter((name) => name[0] === word[0]);
  return suggestion(word, long).replace(/ (?=\S+[,?])/g, ' --');
}

function unknownOption(error: CommanderError, { registeredArguments }: Command): string {
  if (hintIn(error.message) !== '') return plain(error);
  const [, word = ''] = /'--([a-z-]+)/.exec(error.message) ?? [];
  const names = registeredArguments.map((argument) => argument.name()).filter((name) => /^[a-z]+$/.test(name));
  const [, name] = / mean (\w+)\?$/.exec(suggestion(word, names)) ?? [];
  return name === undefined ? plain(error) : `${plain(error)} The ${name} is an argument: type it without an option.`;
}

/** For "… value 'bsh' is invalid … Allowed choices are bash, zsh, fish." */
function invalidChoice({ message }: CommanderError): string | undefined {
  const [, option, word, choices] =
    /(?:option '(--[a-z-]+).*' argument|value) '(.*)' is invalid.* Allowed choices are (.+)\./.exec(message) ?? [];
  if (word === undefined || choices === undefined) return undefined;
  const hint = word.startsWith('-') ? '' : suggestion(word, choices.split(', '));
  return `${option === undefined ? '' : `${option}: `}'${word}' is not one of ${choices}.${hint}`;
}

/** "error: unknown option '--al'\n(Did you mean --all?)" as sentences. */
function plain({ message }: CommanderError): string {
  const [what = ''] = message.replace(/^error: /, '').split('\n');
  const text = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/ argument missing$/, ' needs a value');
  return `${text.replace(/\.$/, '')}.${hintIn(message)}`;
}
