// SPDX-License-Identifier: MPL-2.0
import { type MenuItemConstructorOptions as Item, Menu } from 'electron';
import { VIEWS, type View } from '../shared/api.ts';
import type { TextKey, Texts } from './texts.ts';

export interface MenuActions {
  sendFiles(what: 'files' | 'folders', to: undefined): void;
  show(view: View): void;
  close(): void;
  quit(): void;
}

/** The menu of the window, which carries its keyboard shortcuts. */
export function setAppMenu(texts: Texts, actions: MenuActions): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(appMenu(texts, actions)));
}

function appMenu({ t }: Texts, actions: MenuActions): Item[] {
  const role = (key: TextKey, role: NonNullable<Item['role']>): Item => ({ label: t(key), role });
  const file: Item[] = [
    { label: t('menu.sendFiles'), accelerator: 'CmdOrCtrl+O', click: () => actions.sendFiles('files', undefined) },
    {
      label: t('menu.sendFolder'),
      accelerator: 'CmdOrCtrl+Shift+O',
      click: () => actions.sendFiles('folders', undefined),
    },
    { label: t('menu.receive'), accelerator: 'CmdOrCtrl+R', click: () => actions.show('receive') },
    { type: 'separator' },
    { label: t('menu.close'), accelerator: 'CmdOrCtrl+W', click: () => actions.close() },
    { label: t('menu.quit'), accelerator: 'CmdOrCtrl+Q', click: () => actions.quit() },
  ];
  const edit: Item[] = [
    role('menu.undo', 'undo'),
    role('menu.redo', 'redo'),
    { type: 'separator' },
    role('menu.cut', 'cut'),
    role('menu.copy', 'copy'),
    role('menu.paste', 'paste'),
    role('menu.selectAll', 'selectAll'),
  ];
  const view: Item[] = [
    role('menu.zoomIn', 'zoomIn'),
    role('menu.zoomOut', 'zoomOut'),
    role('menu.zoomReset', 'resetZoom'),
    { type: 'separator' },
    role('menu.fullScreen', 'togglefullscreen'),
  ];
  const go = VIEWS.map((name, i): Item => {
    const accelerator = name === 'settings' ? 'CmdOrCtrl+,' : `CmdOrCtrl+${i + 1}`;
    return { label: t(`view.${name}`), accelerator, click: () => actions.show(name) };
  });
  return [
    ...(process.platform === 'darwin' ? [{ role: 'appMenu' } satisfies Item] : []),
    { label: t('menu.file'), submenu: file },
    { label: t('menu.edit'), submenu: edit },
    { label: t('menu.view'), submenu: view },
    { label: t('menu.go'), submenu: go },
    { label: t('menu.window'), submenu: [role('menu.minimize', 'minimize')] },
  ];
}
