// SPDX-License-Identifier: MPL-2.0

// The files of the bundled program: its chunks, and the entry that loads them (scripts/bundle.mjs, scripts/pack.mjs).
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const ENTRY = 'keibidrop.cjs';
const TARGET = 'node20.19';
const DIGEST_LENGTH = 16;

/** A chunk of esbuild, a module, as CommonJS, with its source map. */
export async function commonJsChunk(text, map) {
  const inlineMap = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
  return transform(`${text}\n${inlineMap}`, {
    format: 'cjs',
    target: TARGET,
    sourcemap: 'external',
    // The loader compiles chunks as scripts, in which import() would not find the other chunks.
    supported: { 'dynamic-import': false },
    banner: text.includes('moduleUrl')
      ? "var moduleUrl = require('node:url').pathToFileURL(__filename).href;"
      : undefined,
  });
}

/** Writes the entry that belongs to the chunks of a folder; a code cache is bound to their digest. */
export async function writeEntry(folder, { version, ...options }) {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith('.cjs') && name !== ENTRY) hash.update(`${name}\0`).update(readFileSync(join(folder, name)));
  }
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../apps/cli/src/bin.ts', import.meta.url))],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: TARGET,
    logLevel: 'warning',
    define: {
      KEIBIDROP_VERSION: JSON.stringify(version),
      KEIBIDROP_BUILD: JSON.stringify(hash.digest('hex').slice(0, DIGEST_LENGTH)),
    },
    ...options,
  });
  writeFileSync(join(folder, ENTRY), outputFiles[0].contents);
  chmodSync(join(folder, ENTRY), 0o755);
}

/** libsodium decodes its WebAssembly by a loop over 380,000 characters at each start; Node does it in a tenth of the time. */
export const fasterLibsodium = {
  name: 'faster-libsodium',
  setup({ onLoad }) {
    onLoad({ filter: /\/libsodium-sumo\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(
        /\(\w=>\{for\([^{}]*\)[^{}]*;return \w\}\)\(("AGFzbQ[^"]+")\)/,
        "Buffer.from($1,'base64')",
      );
      return contents === text
        ? { errors: [{ text: 'the pattern of fasterLibsodium matches nothing in this version of libsodium' }] }
        : { contents };
    });
  },
};
