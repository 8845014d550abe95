// SPDX-License-Identifier: MPL-2.0

/** A desktop entry that runs `command` (Desktop Entry Specification 1.5, Autostart Specification 0.5). */
export function autostartEntry(command: readonly string[]): string {
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=KeibiDrop',
    `Exec=${command.map(quoted).join(' ')}`,
    'Icon=keibidrop',
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n');
}

/** Quotes an argument of Exec: escapes `"`, `` ` ``, `$` and `\`, escapes `\` again as in every string of the file, doubles `%`. */
function quoted(argument: string): string {
  const escaped = argument.replace(/["`$\\]/g, '\\$&').replace(/\\/g, '\\\\');
  return `"${escaped.replace(/%/g, '%%')}"`;
}
