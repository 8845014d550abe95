// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Preferences } from '../shared/api.ts';
import type { Place } from './window-place.ts';

/** What the window keeps of itself; everything else is the daemon's. */
export interface Kept {
  readonly theme: Preferences['theme'];
  readonly language: Preferences['language'];
  readonly closeToTray: boolean;
  /** Where the window was. */
  readonly place: Place | undefined;
  /** Somebody has been told that a closed window goes on in the tray. */
  readonly toldOfTray: boolean;
}

const THEMES: readonly Preferences['theme'][] = ['system', 'light', 'dark'];
const LANGUAGES: readonly Preferences['language'][] = ['system', 'en', 'de', 'es'];

/** A small file that is replaced as a whole with each change. One that makes no sense counts as none. */
export class KeptFile {
  readonly #path: string;
  #kept: Kept;

  constructor(path: string) {
    this.#path = path;
    this.#kept = keptOf(read(path));
  }

  get kept(): Kept {
    return this.#kept;
  }

  /** What cannot be written holds until the window ends. */
  change(changes: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...changes };
    const beside = `${this.#path}.new`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      writeFileSync(beside, JSON.stringify(this.#kept), { mode: 0o600 });
      renameSync(beside, this.#path);
    } catch {
      // A full disk must not keep the window from closing.
    }
  }
}

/** Of what stands in a file, what makes sense. */
export function keptOf(found: unknown): Kept {
  const { theme, language, closeToTray, place, toldOfTray } = (found ?? {}) as Record<string, unknown>;
  return {
    theme: THEMES.find((each) => each === theme) ?? 'system',
    language: LANGUAGES.find((each) => each === language) ?? 'system',
    closeToTray: closeToTray !== false,
    place: isPlace(place) ? place : undefined,
    toldOfTray: toldOfTray === true,
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
