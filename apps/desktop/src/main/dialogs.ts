// SPDX-License-Identifier: MPL-2.0
import { type BrowserWindow, dialog, type MessageBoxOptions, type OpenDialogOptions } from 'electron';
import type { Texts } from './texts.ts';

/** The system's dialogs, attached to the window if it is visible. */
export class Dialogs {
  readonly #window: () => BrowserWindow | undefined;
  readonly #texts: () => Texts;

  constructor(window: () => BrowserWindow | undefined, texts: () => Texts) {
    this.#window = window;
    this.#texts = texts;
  }

  /** Asks for files or folders to send; empty if cancelled. Linux and Windows have no dialog for both kinds. */
  pick(what: 'files' | 'folders'): Promise<string[]> {
    const { t } = this.#texts();
    const kind = what === 'files' ? 'openFile' : 'openDirectory';
    const properties: OpenDialogOptions['properties'] = [kind, 'multiSelections', 'showHiddenFiles'];
    return this.#open({ title: t(`pick.${what}`), buttonLabel: t('pick.send'), properties });
  }

  async pickFolder(start: string | null): Promise<string | null> {
    const { t } = this.#texts();
    const [folder] = await this.#open({
      title: t('pick.folder'),
      buttonLabel: t('pick.choose'),
      properties: ['openDirectory', 'createDirectory'],
      ...(start !== null && { defaultPath: start }),
    });
    return folder ?? null;
  }

  /** @returns  the index of the button */
  async ask(options: MessageBoxOptions): Promise<number> {
    const window = this.#window();
    const { response } = await (window ? dialog.showMessageBox(window, options) : dialog.showMessageBox(options));
    return response;
  }

  async showFailure(message: string): Promise<void> {
    await this.ask({ type: 'error', message: this.#texts().t('failed.title'), detail: message });
  }

  async #open(options: OpenDialogOptions): Promise<string[]> {
    const window = this.#window();
    const { canceled, filePaths } = await (window
      ? dialog.showOpenDialog(window, options)
      : dialog.showOpenDialog(options));
    return canceled ? [] : filePaths;
  }
}
