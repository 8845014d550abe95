// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { checkout } from './workspace.mjs';

/** Bundles a program of this folder that imports packages/peer. @returns  the bundle's path */
export async function bundled(name) {
  const outfile = `${checkout}bench/build/${name}`;
  await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    logLevel: 'warning',
    // CommonJS libraries call require for Node's own modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
    },
    external: ['@grpc/proto-loader', '@napi-rs/keyring'], // these programs load neither
  });
  return outfile;
}
