// SPDX-License-Identifier: MPL-2.0
import { app, type Session, type WebContents } from 'electron';
import { PAGE_ORIGIN } from './page-files.ts';

/** The only addresses that a page may load: its own files, `data:` and the developer tools. */
const ALLOWED = [`${PAGE_ORIGIN}/`, 'data:', 'devtools:'];

/**
 * Denies every page what this program never needs: navigation, new windows, webviews and permissions.
 * The page's own policy forbids most of it; this is the second barrier.
 */
export function lockDown(): void {
  app.on('web-contents-created', (_event, contents) => {
    const refuse = (event: { preventDefault(): void }) => event.preventDefault();
    contents.on('will-navigate', refuse);
    contents.on('will-redirect', refuse);
    contents.on('will-attach-webview', refuse);
    // Electron before 12 asks with an event.
    if (typeof contents.setWindowOpenHandler === 'function') contents.setWindowOpenHandler(() => ({ action: 'deny' }));
    else
      (contents as WebContents & { on(event: 'new-window', listener: typeof refuse): void }).on('new-window', refuse);
  });
}

export function lockSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.setPermissionCheckHandler(() => false);
  session.webRequest.onBeforeRequest(({ url }, answer) => {
    answer({ cancel: !ALLOWED.some((start) => url.startsWith(start)) });
  });
  session.on('will-download', (event) => event.preventDefault());
}
