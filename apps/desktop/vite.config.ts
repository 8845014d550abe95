// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** One bundle, for the window and for the page of `keibidrop ui`. */
export default defineConfig({
  root: fileURLToPath(new URL('src/renderer', import.meta.url)),
  base: './',
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('dist/renderer', import.meta.url)),
    emptyOutDir: true,
    // The oldest that the tests run in: Chrome 83, of the Electron that can be had without a download.
    target: 'chrome83',
    cssTarget: 'chrome83',
    // Both pages forbid what is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
});
