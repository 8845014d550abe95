// SPDX-License-Identifier: MPL-2.0
import {
  type CommandDefinition,
  type OptionDefinition,
  type PlaceDefinition,
  type Value,
  withSubcommands,
} from './definitions.ts';

/** A script that completes `keibidrop` in zsh: for a folder of `fpath`, or to be sourced after `compinit`. */
export function zshCompletion(program: CommandDefinition): string {
  return `#compdef keibidrop
# zsh completion for keibidrop: written by \`keibidrop completion zsh\`

__keibidrop_names() {
  local -a names
  names=(\${(f)"$(\${(Q)keibidrop_program} contacts list --names 2>/dev/null)"})
  compadd -a names
}
${withSubcommands(program).map(functionOf).join('')}
if [[ $funcstack[1] == _keibidrop ]]; then
  _keibidrop "$@"
else
  compdef _keibidrop keibidrop
fi
`;
}

function functionOf(definition: CommandDefinition): string {
  const { path, options, places, subcommands } = definition;
  const specs = [
    ...options.map(optionSpec),
    ...(subcommands.length > 0 ? ["'1:command:->command'", "'*::argument:->argument'"] : places.map(placeSpec)),
  ];
  const call = ['_arguments -s -S', ...(subcommands.length > 0 ? ['-C'] : []), ...specs].join(' \\\n    ');
  const body = subcommands.length === 0 ? call : `${call}\n${choiceOf(definition)}`;
  const begin = path.length === 0 ? '  local keibidrop_program=$words[1]\n' : '';
  return `
${nameOf(path)}() {
${begin}${subcommands.length === 0 ? '' : '  local context state state_descr line\n  typeset -A opt_args\n'}  ${body}
}
`;
}

/** Completes the name of a subcommand, or hands over to it. */
function choiceOf({ subcommands }: CommandDefinition): string {
  const last = ({ path }: CommandDefinition) => path.at(-1) ?? '';
  const described = subcommands.map((sub) => `'${last(sub)}:${escaped(sub.summary)}'`);
  const cases = subcommands.map((sub) => `        ${last(sub)}) ${nameOf(sub.path)} ;;`);
  return `  case $state in
    command)
      local -a commands=(
        ${described.join('\n        ')}
      )
      _describe command commands
      ;;
    argument)
      case $words[1] in
${cases.join('\n')}
      esac
      ;;
  esac`;
}

function nameOf(path: readonly string[]): string {
  return ['_keibidrop', ...path].join('_');
}

function optionSpec({ flags, description, value, placeholder, repeatable }: OptionDefinition): string {
  const text = `[${escaped(description)}]`;
  const taken = value === undefined ? '' : `:${escaped(placeholder)}:${actionOf(value)}`;
  const forms = value === undefined ? flags : flags.map((flag) => (flag.startsWith('--') ? `${flag}=` : `${flag}+`));
  if (repeatable) return forms.map((form) => `'*${form}${text}${taken}'`).join(' ');
  if (flags.length === 1) return `'${forms[0]}${text}${taken}'`;
  return `'(${flags.join(' ')})'{${forms.join(',')}}'${text}${taken}'`;
}

function placeSpec({ placeholder, value, variadic }: PlaceDefinition): string {
  return `'${variadic ? '*:' : '::'}${escaped(placeholder)}:${actionOf(value)}'`;
}

function actionOf(value: Value): string {
  if (typeof value !== 'string') return `(${value.join(' ')})`;
  return { file: '_files', directory: '_files -/', contact: '__keibidrop_names', other: ' ' }[value];
}

/** For a text within the single quotes of a specification. */
function escaped(text: string): string {
  return text.replace(/[\\[\]:$`]/g, '\\$&').replaceAll("'", "'\\''");
}
