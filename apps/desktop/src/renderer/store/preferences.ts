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

/** The theme that the page has now. */
export const useShade = create<{ shade: 'light' | 'dark' }>()(() => ({ shade: 'light' }));

/** Has the page follow the theme that is chosen, or the system's, now and when either changes. */
export function applyPreferences(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    const { theme } = useLook.getState();
    const system = dark.matches ? 'dark' : 'light';
    const shade = theme === 'system' ? system : theme;
    document.documentElement.dataset.theme = shade;
    useShade.setState({ shade });
  };
  apply();
  useLook.subscribe(apply);
  dark.addEventListener('change', apply);
}

function kept(): Partial<Look> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Look>;
  } catch {
    return {}; // somebody else's words: the defaults hold
  }
}
