// SPDX-License-Identifier: MPL-2.0
import { COMMENT, GENERIC_NAME, translatedLines } from './texts.ts';
import { WRITTEN_BY } from './written-mark.ts';

/** Name of the desktop entry without its ending, and of the component in AppStream. */
export const DESKTOP_ID = 'org.keibidrop.KeibiDrop';
export const ICON_NAME = 'keibidrop';
/** The MIME type of `keibidrop://` links. */
export const LINK_TYPE = 'x-scheme-handler/keibidrop';

/** The entry of the menu, which also opens links (Desktop Entry Specification 1.5). @param command  opens the window; absolute */
export function desktopEntry(command: readonly string[]): string {
  return entryText([
    ...head(command, ' %U'),
    ...translatedLines('GenericName', GENERIC_NAME),
    ...translatedLines('Comment', COMMENT),
    'Categories=Network;FileTransfer;P2P;',
    'Keywords=send;receive;share;transfer;files;',
    // Only links: as a program for files of every type it would become the default of some.
    `MimeType=${LINK_TYPE};`,
    'StartupNotify=true',
    'StartupWMClass=KeibiDrop',
  ]);
}

/** An entry that runs `command` when the user logs in (Autostart Specification 0.5). */
export function autostartEntry(command: readonly string[]): string {
  return entryText([...head(command, ''), 'X-GNOME-Autostart-enabled=true']);
}

/** Exec of an entry: each argument quoted, then the codes that the desktop replaces. */
export function execLine(command: readonly string[], codes: string): string {
  return `Exec=${command.map(quoted).join(' ')}${codes}`;
}

export function entryText(lines: readonly string[]): string {
  return `${['[Desktop Entry]', ...lines].join('\n')}\n`;
}

export const MARK = `${WRITTEN_BY}=1`;

function head(command: readonly string[], codes: string): string[] {
  const [program, ...rest] = command;
  if (program === undefined) throw new Error('a desktop entry needs a command');
  return [
    'Type=Application',
    'Name=KeibiDrop',
    execLine([program, ...rest], codes),
    `Icon=${ICON_NAME}`,
    'Terminal=false',
    MARK,
  ];
}

/** Quotes an argument of Exec: escapes `"`, `` ` ``, `$` and `\`, escapes `\` again as in every string of the file, doubles `%`. */
function quoted(argument: string): string {
  const escaped = argument.replace(/["`$\\]/g, '\\$&').replace(/\\/g, '\\\\');
  return `"${escaped.replace(/%/g, '%%')}"`;
}
