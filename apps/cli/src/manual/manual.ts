// SPDX-License-Identifier: MPL-2.0
import type { Command } from 'commander';
import { type CommandDefinition, defineProgram, type OptionDefinition } from '../completion/definitions.ts';
import { TOPICS } from '../help/topics.ts';

/** The manual page keibidrop(1) in the format of man(7): every command with its options, then the topics of the help. */
export function manualPage(program: Command, version: string): string {
  const definition = defineProgram(program, Object.keys(TOPICS));
  const after = helpAfter(program);
  const parts = [
    `.TH KEIBIDROP 1 "" ${quoted(`KeibiDrop ${version}`)} "User Commands"`,
    '.SH NAME',
    `keibidrop \\- ${escaped(lowered(program.description()))}`,
    '.SH SYNOPSIS',
    '.B keibidrop',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    'The commands below send files, share folders, and manage people and the daemon.',
    `For one command alone, \\fBkeibidrop\\fR \\fIcommand\\fR \\fB${escaped('--help')}\\fR prints the same text.`,
    '.SH COMMANDS',
    ...definition.subcommands.flatMap((each) => commandSection(each, commandOf(program, each.path))),
    '.SH TOPICS',
    ...Object.entries(TOPICS).flatMap(([name, { text }]) => [`.SS ${quoted(name)}`, ...literal(text)]),
    '.SH NOTES',
    ...literal(after),
    '.SH SEE ALSO',
    '.BR scp (1),',
    '.BR rsync (1)',
  ];
  return `${parts.join('\n')}\n`;
}

function commandSection(definition: CommandDefinition, command: Command): string[] {
  const { path, options, subcommands } = definition;
  const usage = command.createHelp().commandUsage(command);
  return [
    `.SS ${quoted(path.join(' '))}`,
    `.B ${escaped(usage)}`,
    '.PP',
    escaped(command.description()),
    ...options.flatMap(optionEntry),
    ...subcommands.flatMap((sub) => commandSection(sub, commandOf(command, sub.path.slice(-1)))),
    ...(helpAfter(command) === '' ? [] : ['.PP', ...literal(helpAfter(command))]),
  ];
}

function optionEntry({ flags, placeholder, description }: OptionDefinition): string[] {
  const names = flags.map((flag) => `\\fB${escaped(flag)}\\fR`).join(', ');
  return ['.TP', placeholder === '' ? names : `${names} \\fI${escaped(placeholder)}\\fR`, escaped(description)];
}

function commandOf(program: Command, path: readonly string[]): Command {
  return path.reduce((at, name) => at.commands.find((each) => each.name() === name) ?? at, program);
}

/** The text that a command's help has below its options: examples, explanations, environment and exit codes. */
function helpAfter(command: Command): string {
  let text = '';
  const { writeOut } = command.configureOutput();
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
  });
  command.outputHelp();
  command.configureOutput(writeOut === undefined ? {} : { writeOut });
  const listed = command.helpInformation();
  return text.startsWith(listed) ? text.slice(listed.length).trim() : '';
}

/** Lines that stay as they are. */
function literal(text: string): string[] {
  return ['.nf', escaped(text.trim()), '.fi'];
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\0-~]/gu, (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^([.'])/gm, '\\&$1');
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`;
}
