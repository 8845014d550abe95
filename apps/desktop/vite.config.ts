// SPDX-License-Identifier: MPL-2.0
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Lists the files of libraries that are in the page, beside it: a package of it names their licences (scripts/pack). */
const libraryFiles: Plugin = {
  name: 'library-files',
  async writeBundle() {
    const files = [...this.getModuleIds()].filter((id) => !id.startsWith('\0') && id.includes('/node_modules/'));
    await writeFile(new URL('dist/library-files.json', import.meta.url), JSON.stringify(files.sort()));
  },
};

/** One bundle, for the window and for the page of `keibidrop ui`. */
export default defineConfig({
  root: fileURLToPath(new URL('src/renderer', import.meta.url)),
  base: './',
  plugins: [react(), libraryFiles],
  build: {
    outDir: fileURLToPath(new URL('dist/renderer', import.meta.url)),
    emptyOutDir: true,
    // The oldest browser of the tests: Chrome 83, in the Electron that needs no download.
    target: 'chrome83',
    cssTarget: 'chrome83',
    // The content policy of both pages forbids inlined assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
});
