// SPDX-License-Identifier: MPL-2.0
import { existsSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { autostartEntry } from './autostart-entry.ts';
import { HIDDEN_FLAG } from './opening.ts';

/** Whether the window is started, in the tray, when its person logs in. */
export interface StartAtLogin {
  get(): boolean;
  set(wanted: boolean): void;
}

/** Linux desktops start what stands in a folder; macOS and Windows keep a list. */
export function startAtLogin(): StartAtLogin {
  if (process.platform === 'linux') return byEntry(app.getPath('appData'));
  const args = [HIDDEN_FLAG];
  return {
    get: () => app.getLoginItemSettings({ args }).openAtLogin,
    set: (openAtLogin) => app.setLoginItemSettings({ openAtLogin, args }),
  };
}

/** @param configHome  `~/.config` or what XDG_CONFIG_HOME says */
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

/** What starts this program: of an AppImage that file, since what runs is where it is unpacked for now. */
function ownCommand(): string[] {
  if (process.env.APPIMAGE) return [process.env.APPIMAGE];
  return app.isPackaged ? [process.execPath] : [process.execPath, app.getAppPath()];
}
