// SPDX-License-Identifier: MPL-2.0
import { app, nativeTheme } from 'electron';
import type { Preferences } from '../../shared/api.ts';
import { type Language, languageOf } from '../../shared/languages.ts';
import type { PreferencesFile } from './preferences-file.ts';
import type { StartAtLogin } from './start-at-login.ts';

/** The user's preferences for this window. */
export class WindowPreferences {
  readonly #file: PreferencesFile;
  readonly #startAtLogin: StartAtLogin;
  readonly #onChange: () => void;

  /** @param onChange  called when preferences change, perhaps the language */
  constructor(file: PreferencesFile, startAtLogin: StartAtLogin, onChange: () => void) {
    this.#file = file;
    this.#startAtLogin = startAtLogin;
    this.#onChange = onChange;
    nativeTheme.themeSource = file.stored.theme;
  }

  get all(): Preferences {
    const { theme, language, closeToTray } = this.#file.stored;
    return { theme, language, closeToTray, startAtLogin: this.#startAtLogin.get() };
  }

  get language(): Language {
    const { language } = this.#file.stored;
    return language === 'system' ? languageOf([app.getLocale()]) : language;
  }

  change({ startAtLogin, ...changes }: Partial<Preferences>): Preferences {
    if (startAtLogin !== undefined && startAtLogin !== this.#startAtLogin.get()) this.#startAtLogin.set(startAtLogin);
    this.#file.change(changes);
    nativeTheme.themeSource = this.#file.stored.theme;
    this.#onChange();
    return this.all;
  }
}
