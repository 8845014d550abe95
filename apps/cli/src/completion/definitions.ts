// SPDX-License-Identifier: MPL-2.0
import type { Argument, Command, Option } from 'commander';

/** The kind of a value: a path, the name of a contact, or one of these words. */
export type Value = 'file' | 'directory' | 'contact' | 'other' | readonly string[];

export interface OptionDefinition {
  /** The short flag first, as in `-o`, `--out`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined: it takes no value. */
  readonly value?: Value;
  readonly placeholder: string;
  readonly repeatable: boolean;
}

export interface CommandDefinition {
  /** The words that name it; none for the program itself. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly OptionDefinition[];
  readonly subcommands: readonly CommandDefinition[];
  readonly places: readonly PlaceDefinition[];
}

/** An argument. Only the last one of a command may be `variadic`. */
export interface PlaceDefinition {
  readonly placeholder: string;
  readonly value: Value;
  readonly variadic: boolean;
}

/** Placeholders whose values no shell can know. */
const WORDS = [
  ...['action', 'bytes', 'code', 'fingerprint', 'host:port', 'host:port|url', 'id', 'n', 'name', 'new', 'number'],
  ...['pattern', 'rate', 'share', 'share/path', 'size', 'text', 'time', 'url', 'words'],
];

/** The values that each placeholder of an option or an argument takes; `defineProgram` throws for one that is not here. */
const VALUES: Readonly<Record<string, Value>> = {
  'auto|off|iface': ['auto', 'off'],
  'ask|accept|never': ['ask', 'accept', 'never'],
  contact: 'contact',
  'code or contact': 'contact',
  dir: 'directory',
  folder: 'directory',
  file: 'file',
  path: 'file',
  paths: 'file',
  'files and links': 'file',
  ...Object.fromEntries(WORDS.map((placeholder) => [placeholder, 'other'] as const)),
};

/** Arguments that are several in one. */
const SEVERAL: Readonly<Record<string, readonly PlaceDefinition[]>> = {
  target: [
    { placeholder: 'code, contact or share', value: 'contact', variadic: false },
    { placeholder: 'dir', value: 'directory', variadic: true },
  ],
};

/**
 * The program as its parser declares it.
 *
 * @param topics  which `help` also takes
 */
export function defineProgram(program: Command, topics: readonly string[]): CommandDefinition {
  const verbs = program.createHelp().visibleCommands(program);
  const values = { ...VALUES, 'command or topic': [...verbs.map((verb) => verb.name()), ...topics] };
  return definitionOf(program, [], values);
}

/** A definition and those of all its subcommands. */
export function withSubcommands(definition: CommandDefinition): CommandDefinition[] {
  return [definition, ...definition.subcommands.flatMap(withSubcommands)];
}

function definitionOf(command: Command, path: string[], values: Readonly<Record<string, Value>>): CommandDefinition {
  const help = command.createHelp();
  const isOwnHelp = (sub: Command) => path.length > 0 && sub.name() === 'help';
  const subcommands = help
    .visibleCommands(command)
    .filter((sub) => !isOwnHelp(sub))
    .map((sub) => definitionOf(sub, [...path, sub.name()], values));
  const own = help.visibleOptions(command).map((option) => optionOf(option, values));
  return {
    path,
    summary: command.summary() || command.description(),
    options: path.length === 0 ? own : withShared(own, subcommands),
    subcommands,
    places: command.registeredArguments.flatMap((argument) => placesOf(argument, values)),
  };
}

/** Without a subcommand the default one runs, so options of all subcommands may follow. */
function withShared(own: OptionDefinition[], [first, ...others]: CommandDefinition[]): OptionDefinition[] {
  const shared = first?.options.filter((option) => others.every((each) => each.options.some(isSame(option)))) ?? [];
  return [...shared.filter((option) => !own.some(isSame(option))), ...own];
}

function isSame({ flags }: OptionDefinition): (other: OptionDefinition) => boolean {
  return (other) => other.flags.at(-1) === flags.at(-1);
}

function optionOf(option: Option, values: Readonly<Record<string, Value>>): OptionDefinition {
  const [, placeholder = ''] = /<(.+?)>/.exec(option.flags) ?? [];
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: option.description,
    placeholder,
    ...(placeholder !== '' && { value: option.argChoices ?? takenBy(placeholder, values) }),
    // In these definitions a parser collects the values of several uses.
    repeatable: option.parseArg !== undefined && option.argChoices === undefined,
  };
}

function placesOf(argument: Argument, values: Readonly<Record<string, Value>>): readonly PlaceDefinition[] {
  const placeholder = argument.name();
  const value = () => argument.argChoices ?? takenBy(placeholder, values);
  return SEVERAL[placeholder] ?? [{ placeholder, value: value(), variadic: argument.variadic }];
}

function takenBy(placeholder: string, values: Readonly<Record<string, Value>>): Value {
  const value = values[placeholder];
  if (value === undefined) throw new Error(`completion/definitions.ts does not say what <${placeholder}> takes`);
  return value;
}
