// SPDX-License-Identifier: MPL-2.0

// The manual page, from what `--help` prints.

/** @returns `{ program, commands: [name, text][] }`. @param run  runs the program with words and returns its output */
export function helpTexts(run) {
  const program = run('--help');
  // Groups of commands, then examples: after a command's name stand two spaces or more.
  const names = [...program.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name).filter((name) => name !== 'help');
  if (names.length === 0) throw new Error('`--help` lists no command');
  return { program, commands: names.map((name) => [name, run(name, '--help')]) };
}

export function manPage({ program, commands }, { version, description }) {
  const part = (title, text) => `.SS ${quoted(title)}\n.nf\n${escaped(text.trim())}\n.fi\n`;
  return `.TH KEIBIDROP 1 "" ${quoted(`keibidrop ${version}`)} "User Commands"
.SH NAME
keibidrop \\- ${escaped(description)}
.SH SYNOPSIS
.B keibidrop
.I command
.RI [ options ]
.SH DESCRIPTION
.nf
${escaped(program.replace(/^Usage:.*\n+/, '').trim())}
.fi
.SH COMMANDS
${commands.map(([name, text]) => part(`keibidrop ${name}`, text)).join('')}`;
}

function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

function quoted(text) {
  return `"${escaped(text)}"`;
}
