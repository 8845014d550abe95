// SPDX-License-Identifier: MPL-2.0
import { app, nativeTheme } from 'electron';
import type { Preferences } from '../shared/api.ts';
import { type Language, languageOf } from '../shared/languages.ts';
import type { KeptFile } from './kept-file.ts';
import type { StartAtLogin } from './start-at-login.ts';

/** The user's preferences for this window. */
export class WindowPreferences {
  readonly #kept: KeptFile;
  readonly #startAtLogin: StartAtLogin;
  readonly #onChange: () => void;

  /** @param onChange  called when preferences change, perhaps the language */
  constructor(kept: KeptFile, startAtLogin: StartAtLogin, onChange: () => void) {
    this.#kept = kept;
    this.#startAtLogin = startAtLogin;
    this.#onChange = onChange;
    nativeTheme.themeSource = kept.kept.theme;
  }

  get all(): Preferences {
    const { theme, language, closeToTray } = this.#kept.kept;
    return { theme, language, closeToTray, startAtLogin: this.#startAtLogin.get() };
  }

  get language(): Language {
    const { language } = this.#kept.kept;
    return language === 'system' ? languageOf([app.getLocale()]) : language;
  }

  change({ startAtLogin, ...changes }: Partial<Preferences>): Preferences {
    if (startAtLogin !== undefined && startAtLogin !== this.#startAtLogin.get()) this.#startAtLogin.set(startAtLogin);
    this.#kept.change(changes);
    nativeTheme.themeSource = this.#kept.kept.theme;
    this.#onChange();
    return this.all;
  }
}
