// SPDX-License-Identifier: MPL-2.0
import { join } from 'node:path';
import { Menu, type NativeImage, nativeImage, nativeTheme, Tray } from 'electron';
import type { DaemonState } from '../../shared/daemon-state.ts';
import type { Texts } from '../texts.ts';
import { activityOf } from './activity.ts';
import { headOf, type TrayActions, trayMenu } from './tray-menu.ts';

/** Redraws at most this often: replacing an open menu closes it. */
const REDRAW_MS = 1000;
const PICTURES = join(__dirname, 'images');
/** Number of steps of the progress ring around the icon. */
const STEPS = 8;

/** The tray icon: its picture shows the overall progress and whether a question waits. */
export class TrayEntry {
  readonly #tray: Tray;
  readonly #actions: TrayActions;
  readonly #pictures = new Map<string, NativeImage>();
  #drawn = '';
  #waiting: NodeJS.Timeout | undefined;
  #next: { state: DaemonState; texts: Texts } | undefined;

  constructor(actions: TrayActions) {
    this.#actions = actions;
    this.#tray = new Tray(this.#picture('idle'));
    // Left click; on macOS and most Linux desktops it opens the menu already.
    this.#tray.on('click', () => {
      if (process.platform === 'win32') actions.show();
    });
  }

  /** Draws this state, at the latest after `REDRAW_MS`. */
  show(state: DaemonState, texts: Texts): void {
    this.#next = { state, texts };
    if (this.#waiting !== undefined) return;
    this.#draw();
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      if (this.#next !== undefined) this.#draw();
    }, REDRAW_MS);
  }

  destroy(): void {
    clearTimeout(this.#waiting);
    this.#tray.destroy();
  }

  #draw(): void {
    const { state, texts } = this.#next as { state: DaemonState; texts: Texts };
    this.#next = undefined;
    const menu = trayMenu(state, texts, this.#actions);
    const picture = pictureOf(state);
    const drawn = JSON.stringify([picture, nativeTheme.shouldUseDarkColors, menu]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#tray.setImage(this.#picture(picture));
    this.#tray.setToolTip(`KeibiDrop – ${headOf(state, texts)}`);
    this.#tray.setContextMenu(Menu.buildFromTemplate(menu));
  }

  #picture(name: string): NativeImage {
    const file = join(PICTURES, `tray-${name}-${kindOfPicture()}.png`);
    let picture = this.#pictures.get(file);
    if (picture === undefined) {
      picture = nativeImage.createFromPath(file);
      picture.setTemplateImage(process.platform === 'darwin');
      this.#pictures.set(file, picture);
    }
    return picture;
  }
}

/** macOS colours a template itself. A Linux panel's colour does not follow the theme, so the icon there suits dark and light. */
function kindOfPicture(): string {
  if (process.platform === 'darwin') return 'template';
  if (process.platform === 'linux') return 'outlined';
  return nativeTheme.shouldUseDarkColors ? 'dark' : 'light';
}

function pictureOf(state: DaemonState): string {
  const { questions, share, underWay, paused } = activityOf(state);
  if (state.link.state === 'lost') return 'lost';
  if (questions > 0) return 'asking';
  if (share === 'unknown') return 'progress-0';
  if (share !== undefined) return `progress-${Math.floor(share * STEPS)}`;
  return underWay.length === 0 && paused.length > 0 ? 'paused' : 'idle';
}
