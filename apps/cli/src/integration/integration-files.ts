// SPDX-License-Identifier: MPL-2.0
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import {
  autostartEntry,
  DESKTOP_ID,
  desktopEntry,
  dolphinMenu,
  ICON_NAME,
  nautilusScript,
  nemoAction,
  thunarEntry,
} from '@keibidrop/integration';
import type { Io } from '../terminal/io.ts';

/** A file that makes this user's desktop know KeibiDrop. */
export interface IntegrationFile {
  /** Absolute, below one of the XDG directories. */
  readonly path: string;
  readonly content: string | { readonly copyOf: string };
  readonly mode: number;
}

/** The user's XDG directories (Base Directory Specification 0.8: a relative path is ignored). */
export interface UserDirectories {
  readonly data: string;
  readonly config: string;
}

const FILE = 0o644;
const PROGRAM = 0o755;

export function userDirectories({ XDG_DATA_HOME: data, XDG_CONFIG_HOME: config }: Io['env']): UserDirectories {
  const given = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  return { data: given(data) ?? join(homedir(), '.local/share'), config: given(config) ?? join(homedir(), '.config') };
}

/**
 * Every file of the integration.
 *
 * @param program  the command that runs this program; absolute
 * @param icons    the folder with icon.svg and SIZExSIZE.png
 */
export function integrationFiles(
  { data, config }: UserDirectories,
  program: readonly string[],
  icons: { readonly folder: string; readonly sizes: readonly number[] },
): { files: IntegrationFile[]; autostart: IntegrationFile } {
  // A file manager shows no progress of a download, so without Electron the browser serves.
  const open = [...program, 'desktop', '--or-browser'];
  const text = (path: string, content: string, mode = FILE): IntegrationFile => ({ path, content, mode });
  const icon = (size: string, name: string, from: string): IntegrationFile => ({
    path: join(data, 'icons/hicolor', size, 'apps', name),
    content: { copyOf: join(icons.folder, from) },
    mode: FILE,
  });
  return {
    files: [
      text(join(data, `applications/${DESKTOP_ID}.desktop`), desktopEntry(open)),
      text(join(data, 'nautilus/scripts/Send with KeibiDrop'), nautilusScript(open), PROGRAM),
      text(join(data, 'nemo/actions/keibidrop-send.nemo_action'), nemoAction(open)),
      // KDE runs only executable entries from a home.
      text(join(data, 'kio/servicemenus/keibidrop-send.desktop'), dolphinMenu(open), PROGRAM),
      text(join(data, 'Thunar/sendto/keibidrop-send.desktop'), thunarEntry(open)),
      icon('scalable', `${ICON_NAME}.svg`, 'icon.svg'),
      ...icons.sizes.map((size) => icon(`${size}x${size}`, `${ICON_NAME}.png`, `${size}x${size}.png`)),
    ],
    autostart: text(join(config, 'autostart/keibidrop.desktop'), autostartEntry([...open.slice(0, -1), '--hidden'])),
  };
}
