// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import type { Preferences } from '../../shared/api.ts';

type Look = Pick<Preferences, 'theme' | 'language'>;

const KEY = 'look';
const DEFAULT: Look = { theme: 'system', language: 'system' };

/** Look of the page. Kept by the browser; the window keeps it too, so that it applies before the page loads. */
export const useLook = create<Look>()(() => ({ ...DEFAULT, ...kept() }));

export function changeLook(changes: Partial<Look>): void {
  useLook.setState(changes);
  localStorage.setItem(KEY, JSON.stringify(useLook.getState()));
}

/** The page's current theme. */
export const useShade = create<{ shade: 'light' | 'dark' }>()(() => ({ shade: 'light' }));

/** Applies the chosen theme, or the system's, now and at each change of either. */
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
    return {}; // not our data: use the defaults
  }
}
