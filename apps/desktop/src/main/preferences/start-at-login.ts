// SPDX-License-Identifier: MPL-2.0
import { existsSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { autostartEntry } from '@keibidrop/integration';
import { app } from 'electron';
import { startedBy } from '../daemon/daemon-program.ts';
import { HIDDEN_FLAG } from '../opening.ts';

/** Whether the window starts in the tray when the user logs in. */
export interface StartAtLogin {
  get(): boolean;
  set(wanted: boolean): void;
}

/** Linux desktops start the entries of a folder; macOS and Windows keep a list. */
export function startAtLogin(): StartAtLogin {
  if (process.platform === 'linux') return byEntry(app.getPath('appData'));
  const args = [HIDDEN_FLAG];
  return {
    get: () => app.getLoginItemSettings({ args }).openAtLogin,
    set: (openAtLogin) => app.setLoginItemSettings({ openAtLogin, args }),
  };
}

/** @param configHome  `~/.config` or XDG_CONFIG_HOME */
function byEntry(configHome: string): StartAtLogin {
  const folder = join(configHome, 'autostart');
  const file = join(folder, 'keibidrop.desktop');
  return {
    get: () => existsSync(file),
    set(wanted) {
      if (!wanted) {
        if (existsSync(file)) unlinkSync(file);
        return;
      }
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, autostartEntry([...ownCommand(), HIDDEN_FLAG]));
    },
  };
}

/** The command that starts this program. For an AppImage it is that file, because it runs from a temporary mount. */
function ownCommand(): string[] {
  if (process.env.APPIMAGE) return [process.env.APPIMAGE];
  if (app.isPackaged) return [process.execPath];
  const program = startedBy(process.env);
  return program === undefined ? [process.execPath, app.getAppPath()] : [...program, 'desktop'];
}
