// SPDX-License-Identifier: MPL-2.0

// The manual page and the completion of the shell, both from what `--help` prints.

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

export function bashCompletion({ commands }) {
  const cases = commands.map(([name, text]) => {
    const options = new Set([...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option));
    return `    ${name}) options='${[...options].join(' ')}' ;;`;
  });
  return `# SPDX-License-Identifier: MPL-2.0
_keibidrop() {
  local word=\${COMP_WORDS[COMP_CWORD]} options
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(([name]) => name).join(' ')} help --help --version' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) compopt -o default; COMPREPLY=() ;;
  esac
}
complete -F _keibidrop keibidrop
`;
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
