// SPDX-License-Identifier: MPL-2.0
import { type CommandDefinition, type Value, withSubcommands } from './definitions.ts';

/** A script that completes `keibidrop` in bash 4.2 or later. */
export function bashCompletion(program: CommandDefinition): string {
  const all = withSubcommands(program);
  return `# bash completion for keibidrop: written by \`keibidrop completion bash\`

# The words of a command, its options, the value of an option, and the value of an argument.
_keibidrop_commands() { case $1 in${all.map(commandsCase).join('')}
esac; }
_keibidrop_options() { case $1 in${all.map(optionsCase).join('')}
esac; }
_keibidrop_value() { case "$1 $2" in${all.map(valueCases).join('')}
  *) value= ;;
esac; }
_keibidrop_place() { case "$1 $2" in${all.map(placeCases).join('')}
  *) value=other ;;
esac; }
${WALK}`;
}

const WALK = `
_keibidrop() {
  local command= place=1 value= ended= joined= commands= options= name i
  local cur=\${COMP_WORDS[COMP_CWORD]} word
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # Bash makes words of their own of "=" and ":".
    if [[ $joined ]]; then joined=; continue; fi
    if [[ $word =~ ^:+$ ]]; then joined=1; continue; fi
    if [[ $value ]]; then
      [[ $word == = ]] || value=
      continue
    fi
    if [[ ! $ended && $word == -- ]]; then ended=1; continue; fi
    if [[ ! $ended && $word == -* ]]; then
      _keibidrop_value "$command" "$word"
      continue
    fi
    _keibidrop_commands "$command"
    if [[ $place == 1 && " $commands " == *" $word "* ]]; then
      command+="\${command:+ }$word" commands=
    else
      ((place++))
    fi
  done
  if [[ $value ]]; then
    [[ $cur != = ]] || cur=
  elif [[ ! $ended && $cur == -* ]]; then
    _keibidrop_options "$command"
    value=$options
  else
    _keibidrop_commands "$command"
    if [[ $place == 1 && $commands ]]; then value=$commands; else _keibidrop_place "$command" "$place"; fi
  fi
  case $value in
    other) ;;
    # Readline itself completes paths, and quotes them.
    file) compopt -o default ;;
    directory) compopt -o dirnames ;;
    contact)
      # Readline quotes names as it does paths.
      compopt -o filenames
      cur=\${cur//\\\\/} cur=\${cur#[\\'\\"]}
      while IFS= read -r name; do
        [[ $name != "$cur"* ]] || COMPREPLY+=("$name")
      done < <("\${COMP_WORDS[0]}" contacts list --names 2>/dev/null)
      ;;
    *) COMPREPLY=($(compgen -W "$value" -- "$cur")) ;;
  esac
}
complete -F _keibidrop keibidrop
`;

function commandsCase({ path, subcommands }: CommandDefinition): string {
  if (subcommands.length === 0) return '';
  return `\n  '${path.join(' ')}') commands='${subcommands.map((sub) => sub.path.at(-1)).join(' ')}' ;;`;
}

function optionsCase({ path, options }: CommandDefinition): string {
  return `\n  '${path.join(' ')}') options='${options.flatMap(({ flags }) => flags).join(' ')}' ;;`;
}

function valueCases({ path, options }: CommandDefinition): string {
  return options
    .map(({ flags, value }) => {
      if (value === undefined) return '';
      const patterns = flags.map((flag) => `'${path.join(' ')} ${flag}'`).join(' | ');
      return `\n  ${patterns}) value='${wordsOf(value)}' ;;`;
    })
    .join('');
}

function placeCases({ path, places }: CommandDefinition): string {
  return places
    .map(({ value, variadic }, i) => {
      const place = variadic ? `'${path.join(' ')} '*` : `'${path.join(' ')} ${i + 1}'`;
      return `\n  ${place}) value='${wordsOf(value)}' ;;`;
    })
    .join('');
}

function wordsOf(value: Value): string {
  return typeof value === 'string' ? value : value.join(' ');
}
