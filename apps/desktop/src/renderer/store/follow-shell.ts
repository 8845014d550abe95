// SPDX-License-Identifier: MPL-2.0
import type { Intent, Shell, View } from '../../shared/api.ts';
import { putIntent } from './intents.ts';
import { useLook } from './preferences.ts';
import { go } from './route.ts';

const VIEW_OF: Readonly<Record<Exclude<Intent['kind'], 'view'>, View>> = {
  receive: 'receive',
  send: 'send',
  contact: 'people',
};

/** Passes the window's intents to the page, and the page's look to the window. */
export function followShell(shell: Shell): void {
  shell.onIntent((intent) => {
    if (intent.kind === 'view') {
      go(intent.view, intent.transfer);
      return;
    }
    putIntent(intent);
    go(VIEW_OF[intent.kind]);
  });
  // The window knows its look before the page loads.
  void shell.preferences().then(({ theme, language }) => {
    useLook.setState({ theme, language });
    useLook.subscribe((look) => void shell.changePreferences({ theme: look.theme, language: look.language }));
  });
}
