// SPDX-License-Identifier: MPL-2.0
import { protocol } from 'electron';
import { fileAt, SCHEME } from './page-files.ts';

/** Call before the application is ready. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: SCHEME, privileges: { standard: true, secure: true } }]);
}

/** Serves the files of `directory` as the page's origin. */
export function servePage(directory: string): void {
  // Electron before 25 has only the older call.
  if (typeof protocol.handle === 'function') {
    protocol.handle(SCHEME, async ({ url }) => {
      const { status, headers, body } = await fileAt(directory, url);
      return new Response(new Uint8Array(body), { status, headers });
    });
    return;
  }
  protocol.registerBufferProtocol(SCHEME, ({ url }, respond) => {
    void fileAt(directory, url).then(({ status, headers, body }) =>
      respond({ statusCode: status, headers, data: body }),
    );
  });
}
