// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import type { Preferences } from '../../shared/api.ts';

type Look = Pick<Preferences, 'theme' | 'language'>;

const KEY = 'look';
const DEFAULT: Look = { theme: 'system', language: 'system' };

/** How the page looks. A browser keeps it itself; the window keeps it too, so that it is there before the page is. */
export const useLook = create<Look>()(() => ({ ...DEFAULT, ...kept() }));

export function changeLook(changes: Partial<Look>): void {
  useLook.setState(changes);
  localStorage.setItem(KEY, JSON.stringify(useLook.getState()));
}

/** Has the page follow the theme, now and when it changes. */
export function applyPreferences(): void {
  const apply = ({ theme }: Look) => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply(useLook.getState());
  useLook.subscribe(apply);
}

function kept(): Partial<Look> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Look>;
  } catch {
    return {}; // somebody else's words: the defaults hold
  }
}
