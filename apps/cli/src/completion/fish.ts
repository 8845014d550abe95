// SPDX-License-Identifier: MPL-2.0
import {
  type CommandDefinition,
  type OptionDefinition,
  type PlaceDefinition,
  type Value,
  withSubcommands,
} from './definitions.ts';

/** A script that completes `keibidrop` in fish 3.1 or later. */
export function fishCompletion(program: CommandDefinition): string {
  const all = withSubcommands(program);
  const taking = all.flatMap(({ path, options }) =>
    options.filter(({ value }) => value !== undefined).flatMap(({ flags }) => flags.map((flag) => [...path, flag])),
  );
  return `# fish completion for keibidrop: written by \`keibidrop completion fish\`

# Every command, and every option that takes a value, after the command that it belongs to.
set -g __keibidrop_commands ${all
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => wordsOf(path))
    .join(' ')}
set -g __keibidrop_taking ${taking.map(wordsOf).join(' ')}
${FUNCTIONS}
complete -c keibidrop -f
${all.flatMap(linesOf).join('\n')}
`;
}

const FUNCTIONS = `
# True after this command, and with PLACE in that argument of it; PLACE 2+ is the second and all later ones.
function __keibidrop_at --argument-names command place
    set -l at ''
    set -l count 1
    set -l takes 0
    set -l ended 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $takes = 1
            set takes 0
        else if test $ended = 0 -a "$word" = --
            set ended 1
        else if test $ended = 0; and string match -q -- '-*' $word
            contains -- "$at $word" $__keibidrop_taking; and set takes 1
        else if test $count = 1; and contains -- "$at $word" $__keibidrop_commands
            set at "$at $word"
        else
            set count (math $count + 1)
        end
    end
    test "$at" = "$command"; or return
    switch "$place"
        case ''
            test $ended = 0
        case '*+'
            test $count -ge (string trim -c + -- $place)
        case '*'
            test $count = $place
    end
end

function __keibidrop_contacts
    set -l words (commandline -opc)
    $words[1] contacts list --names 2>/dev/null
end
`;

function linesOf({ path, options, places, subcommands }: CommandDefinition): string[] {
  const at = (place?: string) => condition(path, place);
  return [
    ...subcommands.map((sub) => `${at('1')} -a ${sub.path.at(-1)} -d ${quoted(sub.summary)}`),
    ...options.map((option) => `${at()} ${optionWords(option)}`),
    ...places.map((place, i) => placeLine(at, place, i + 1)),
  ];
}

function condition(path: readonly string[], place = ''): string {
  const words = path.map((word) => ` ${word}`).join('');
  return `complete -c keibidrop -n "__keibidrop_at '${words}' ${place || "''"}"`;
}

function optionWords({ flags, description, value }: OptionDefinition): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const takes = value === undefined ? '' : value === 'file' ? ' -r -F' : ` -x${candidates(value)}`;
  return `${names.join(' ')}${takes} -d ${quoted(description)}`;
}

function placeLine(at: (place: string) => string, { value, variadic }: PlaceDefinition, place: number): string {
  return `${at(variadic ? `${place}+` : `${place}`)}${value === 'file' ? ' -F' : candidates(value)}`;
}

function candidates(value: Value): string {
  if (typeof value !== 'string') return ` -a ${quoted(value.join(' '))}`;
  if (value === 'directory') return ' -a "(__fish_complete_directories)"';
  return value === 'contact' ? ' -a "(__keibidrop_contacts)"' : '';
}

/** As one word that begins with a space: ' send --out'. */
function wordsOf(path: readonly string[]): string {
  return quoted(path.map((word) => ` ${word}`).join(''));
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
