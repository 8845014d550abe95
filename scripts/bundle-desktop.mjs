// SPDX-License-Identifier: MPL-2.0

// Bundles main and preload of the desktop into its dist, beside the page, or, with options, for an older Electron into another folder:
//   node scripts/bundle-desktop.mjs [--out DIR --target node12.14 --inject FILE]
import { symlinkSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const desktop = fileURLToPath(new URL('../apps/desktop/', import.meta.url));
const program = fileURLToPath(new URL('../apps/cli/dist/keibidrop.cjs', import.meta.url));

const text = { type: 'string' };
const { values } = parseArgs({ options: { out: text, target: text, inject: text } });
const outdir = resolve(values.out ?? `${desktop}dist`);

const { metafile } = await build({
  entryPoints: { main: `${desktop}src/main/main.ts`, preload: `${desktop}src/preload/preload.ts` },
  outdir,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  // Electron 45 contains Node 24.
  target: values.target ?? 'node24',
  format: 'cjs',
  sourcemap: 'external',
  metafile: true,
  logLevel: 'warning',
  // D-Bus asks X11 for the address of a bus only where none is named.
  external: ['electron', 'x11'],
  inject: values.inject === undefined ? [] : [resolve(values.inject)],
  define: { CHECKOUT_PROGRAM: JSON.stringify(relative(outdir, program)) },
}).catch(() => process.exit(1)); // esbuild has said why

// A package names the licences of the libraries among them (scripts/pack).
const inputs = Object.keys(metafile.inputs).map((path) => resolve(path));
const libraries = inputs.filter((path) => path.includes('/node_modules/')).sort();
if (values.out === undefined) writeFileSync(`${desktop}dist/window-library-files.json`, JSON.stringify(libraries));

// Page and pictures are the same for all.
if (values.out !== undefined)
  for (const part of ['renderer', 'images']) symlinkSync(`${desktop}dist/${part}`, `${outdir}/${part}`);
