// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Preferences } from '../../shared/api.ts';
import type { Place } from '../window-place.ts';

/** The window's own preferences and state; the daemon keeps everything else. */
export interface StoredPreferences {
  readonly theme: Preferences['theme'];
  readonly language: Preferences['language'];
  readonly closeToTray: boolean;
  /** Last position and size of the window. */
  readonly place: Place | undefined;
  /** The user has seen the notice that a closed window stays in the tray. */
  readonly trayNoticeShown: boolean;
}

const THEMES: readonly Preferences['theme'][] = ['system', 'light', 'dark'];
const LANGUAGES: readonly Preferences['language'][] = ['system', 'en', 'de', 'es'];

/** A small file, replaced as a whole at each change. An unreadable file counts as missing. */
export class PreferencesFile {
  readonly #path: string;
  #stored: StoredPreferences;

  constructor(path: string) {
    this.#path = path;
    this.#stored = preferencesOf(read(path));
  }

  get stored(): StoredPreferences {
    return this.#stored;
  }

  /** Changes that cannot be written last until the program ends. */
  change(changes: Partial<StoredPreferences>): void {
    this.#stored = { ...this.#stored, ...changes };
    const beside = `${this.#path}.new`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      writeFileSync(beside, JSON.stringify(this.#stored), { mode: 0o600 });
      renameSync(beside, this.#path);
    } catch {
      // A full disk must not keep the window from closing.
    }
  }
}

/** Takes the valid fields of a stored file, and defaults for the rest. */
export function preferencesOf(found: unknown): StoredPreferences {
  const { theme, language, closeToTray, place, trayNoticeShown } = (found ?? {}) as Record<string, unknown>;
  return {
    theme: THEMES.find((each) => each === theme) ?? 'system',
    language: LANGUAGES.find((each) => each === language) ?? 'system',
    closeToTray: closeToTray !== false,
    place: isPlace(place) ? place : undefined,
    trayNoticeShown: trayNoticeShown === true,
  };
}

function isPlace(value: unknown): value is Place {
  if (typeof value !== 'object' || value === null) return false;
  const { x, y, width, height, maximized } = value as Record<string, unknown>;
  return [x, y, width, height].every(Number.isInteger) && typeof maximized === 'boolean';
}

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
