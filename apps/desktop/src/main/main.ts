// SPDX-License-Identifier: MPL-2.0

// The main process: window, tray, dialogs and notifications. It starts the daemon, which does everything else.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { app } from 'electron';
import { Desktop } from './desktop.ts';
import { type Opening, openingOf } from './opening.ts';
import { lockDown } from './page/lockdown.ts';
import { registerScheme } from './page/serve-page.ts';

const started = Date.now();
app.setName('KeibiDrop');
app.setAppUserModelId('org.keibidrop.desktop');
// A separate configuration folder is a separate user, with a daemon and a window of its own.
if (process.env.KD_CONFIG_DIR) app.setPath('userData', join(process.env.KD_CONFIG_DIR, 'desktop'));

if (app.requestSingleInstanceLock()) run();
else app.exit(0); // the running instance gets the arguments

function run(): void {
  registerScheme();
  lockDown();
  // macOS reports files and links by events, perhaps before the program is ready.
  const early: ((desktop: Desktop) => void)[] = [];
  let desktop: Desktop | undefined;
  const withDesktop = (act: (desktop: Desktop) => void) =>
    void (desktop === undefined ? early.push(act) : act(desktop));
  app.on('open-file', (event, path) => {
    event.preventDefault();
    withDesktop((to) => to.openPath(path));
  });
  app.on('open-url', (event, link) => {
    event.preventDefault();
    withDesktop((to) => to.openLink(link));
  });
  app.on('second-instance', (_event, argv, cwd) => withDesktop((to) => to.reopen(openingFrom(argv, cwd))));
  app.on('activate', () => withDesktop((to) => to.reopen({ intents: [], hidden: false })));
  // The tray stays when the window is closed.
  app.on('window-all-closed', () => {});
  void app.whenReady().then(() => {
    if (app.isPackaged) app.setAsDefaultProtocolClient('keibidrop');
    desktop = new Desktop(started);
    desktop.open(openingFrom(process.argv, process.cwd()));
    for (const act of early.splice(0)) act(desktop);
    reportOpened();
  });
}

/** Tells `keibidrop desktop`, which then ends. */
function reportOpened(): void {
  if (process.send === undefined) return;
  process.on('error', () => {}); // it was interrupted
  process.send('opened', () => {
    if (process.connected) process.disconnect();
  });
}

/** Reads the command line that started the program. */
function openingFrom(argv: readonly string[], cwd: string): Opening {
  // In a checkout Electron's own arguments come first, up to the path of this program.
  const own = app.isPackaged ? 0 : argv.findIndex((arg) => resolve(cwd, arg) === app.getAppPath());
  return openingOf(argv.slice(own + 1), cwd, existsSync);
}
