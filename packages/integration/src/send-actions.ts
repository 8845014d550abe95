// SPDX-License-Identifier: MPL-2.0
import { entryText, execLine, ICON_NAME, MARK } from './desktop-entry.ts';
import { SEND_WITH, translatedLines } from './texts.ts';

// Each function returns the file that adds "Send with KeibiDrop" to one file manager. `command` is absolute and takes files.

/** A script in the folder of Nautilus: its arguments are the selected names, and it runs in their folder. */
export function nautilusScript(command: readonly string[]): string {
  return `#!/bin/sh
# ${MARK}
# A name may begin with a dash, and may contain anything else: every argument becomes a path of its own.
for name do
  shift
  case $name in
    /*) ;;
    *) name=$PWD/$name ;;
  esac
  set -- "$@" "$name"
done
exec ${command.map(shellQuoted).join(' ')} "$@"
`;
}

/**
 * An action of Nemo. It gets addresses, because the paths that Nemo inserts are not quoted for every name: an address
 * has no space, quote or backslash.
 */
export function nemoAction(command: readonly string[]): string {
  const lines = [
    `# ${MARK}`,
    'Active=true',
    ...translatedLines('Name', SEND_WITH),
    // Nemo replaces codes, then splits the line as a shell does.
    `Exec=${command.map((word) => keyFileText(shellQuoted(word).replaceAll('%', '%%'))).join(' ')} %U`,
    `Icon-Name=${ICON_NAME}`,
    'Selection=notnone',
    'Extensions=any;',
    'Quote=double',
  ];
  return `${['[Nemo Action]', ...lines].join('\n')}\n`;
}

/** A service menu of Dolphin. In a home it must be executable. */
export function dolphinMenu(command: readonly string[]): string {
  const menu = entryText([
    'Type=Service',
    // Dolphin 5 asks for the first, 6 only for the second. Every type of file descends from octet-stream.
    'X-KDE-ServiceTypes=KonqPopupMenu/Plugin',
    'MimeType=application/octet-stream;inode/directory;',
    'Actions=send;',
    'X-KDE-Priority=TopLevel',
    MARK,
  ]);
  const lines = [...translatedLines('Name', SEND_WITH), `Icon=${ICON_NAME}`, execLine(command, ' %F')];
  return `${menu}\n[Desktop Action send]\n${lines.join('\n')}\n`;
}

/** An entry of the "Send To" menu of Thunar. */
export function thunarEntry(command: readonly string[]): string {
  return entryText([
    'Type=Application',
    'Name=KeibiDrop',
    execLine(command, ' %F'),
    `Icon=${ICON_NAME}`,
    'Terminal=false',
    'NoDisplay=true',
    'MimeType=application/octet-stream;inode/directory;',
    MARK,
  ]);
}

function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A string of a key file escapes the backslash. */
function keyFileText(text: string): string {
  return text.replaceAll('\\', '\\\\');
}
