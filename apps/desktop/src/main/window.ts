// SPDX-License-Identifier: MPL-2.0
import { join } from 'node:path';
import { app, BrowserWindow, nativeTheme, screen, type WebContents } from 'electron';
import type { Intent } from '../shared/api.ts';
import { CHANNELS } from '../shared/channels.ts';
import { PAGE_URL } from './page/page-files.ts';
import type { PreferencesFile } from './preferences/preferences-file.ts';
import { placeOn, SMALLEST } from './window-place.ts';

/** Background until the page has drawn: `--paper` of the page's tokens. */
const PAPER = { light: '#f6f4ef', dark: '#111413' };
const KEEP_AFTER_MS = 500;

export interface WindowHost {
  readonly file: PreferencesFile;
  /** Called when the user closes the window. Returns false to only hide it. */
  onClose(): boolean;
  /** The page was reloaded, crashed or was closed. */
  onPageGone(): void;
  onCrash(): void;
}

/** The only window, which may be hidden, and the intents its page has yet to receive. */
export class MainWindow {
  readonly #host: WindowHost;
  #window: BrowserWindow | undefined;
  #listening = false;
  #waiting: Intent[] = [];
  #keeping: NodeJS.Timeout | undefined;

  constructor(host: WindowHost) {
    this.#host = host;
  }

  get page(): WebContents | undefined {
    return this.#window?.webContents;
  }

  /** Parent for dialogs; undefined while the window is not visible. */
  get visible(): BrowserWindow | undefined {
    return this.#window?.isVisible() ? this.#window : undefined;
  }

  get isLookedAt(): boolean {
    // A hidden window may still count as focused.
    return (this.visible?.isFocused() ?? false) && !this.#window?.isMinimized();
  }

  /** Opens the window, or brings it to the front. */
  show(): void {
    const window = this.#window ?? this.#open();
    if (window.isMinimized()) window.restore();
    if (!window.isVisible()) window.show();
    window.focus();
  }

  /** Shows the window and sends the intent to its page, once the page listens. */
  openIntent(intent: Intent): void {
    if (this.#listening) this.send(CHANNELS.intent, intent);
    else this.#waiting.push(intent);
    this.show();
  }

  send(channel: string, value: unknown): void {
    const page = this.#window?.webContents;
    if (page !== undefined && !page.isDestroyed()) page.send(channel, value);
  }

  onListening(): void {
    this.#listening = true;
    for (const intent of this.#waiting.splice(0)) this.send(CHANNELS.intent, intent);
  }

  /** @param share  0 to 1, 'unknown', or undefined to show nothing */
  showProgress(share: number | 'unknown' | undefined): void {
    this.#window?.setProgressBar(share === undefined ? -1 : share === 'unknown' ? 2 : share);
  }

  /** Closes the window without asking. */
  destroy(): void {
    this.#keepPlace();
    this.#window?.destroy();
  }

  #open(): BrowserWindow {
    const { stored } = this.#host.file;
    const { maximized, ...bounds } = placeOn(screensNow(), stored.place);
    const window = new BrowserWindow({
      ...bounds,
      minWidth: SMALLEST.width,
      minHeight: SMALLEST.height,
      show: false,
      title: app.name,
      icon: join(__dirname, 'images', 'icon-256.png'),
      backgroundColor: nativeTheme.shouldUseDarkColors ? PAPER.dark : PAPER.light,
      webPreferences: {
        preload: join(__dirname, 'preload.cjs'),
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webviewTag: false,
        webSecurity: true,
        allowRunningInsecureContent: false,
        navigateOnDragDrop: false,
        spellcheck: false,
      },
    });
    this.#window = window;
    if (maximized) window.maximize();
    this.#listen(window);
    void window.loadURL(PAGE_URL);
    return window;
  }

  #listen(window: BrowserWindow): void {
    const keepSoon = () => {
      clearTimeout(this.#keeping);
      this.#keeping = setTimeout(() => this.#keepPlace(), KEEP_AFTER_MS);
    };
    window.on('resize', keepSoon);
    window.on('move', keepSoon);
    window.on('close', (event) => {
      this.#keepPlace();
      if (this.#host.onClose()) return;
      event.preventDefault();
      window.hide();
    });
    window.once('closed', () => {
      this.#window = undefined;
      this.#pageGone();
    });
    const { webContents } = window;
    // A new document; a change after the # of the address is not one.
    webContents.on('did-navigate', () => this.#pageGone());
    webContents.on('render-process-gone', (_event, { reason }) => {
      if (reason !== 'clean-exit') this.#host.onCrash();
    });
  }

  #pageGone(): void {
    this.#listening = false;
    this.#host.onPageGone();
  }

  #keepPlace(): void {
    clearTimeout(this.#keeping);
    const window = this.#window;
    if (window === undefined || window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return;
    const maximized = window.isMaximized();
    this.#host.file.change({ place: { ...window.getNormalBounds(), maximized } });
  }
}

/** All screens, the main one first. */
function screensNow() {
  const main = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter(({ id }) => id !== main.id);
  return [main, ...others].map(({ workArea }) => workArea);
}
