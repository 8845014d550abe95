// SPDX-License-Identifier: MPL-2.0

// Bundles apps/cli into apps/cli/dist: the entry keibidrop.cjs, and CommonJS chunks that it loads by a code cache (decision 032).
// A lazily imported module becomes a separate chunk, so that a command reads only the chunks that it uses.
// The page of `keibidrop ui`, which is also the desktop's, comes to stand in apps/cli/dist/page.
//   node scripts/bundle.mjs --out DIR     only the command line, into another folder: to compare two builds
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { commonJsChunk, fasterLibsodium, writeEntry } from './program-files.mjs';
import { warmCodeCache } from './warm-code-cache.mjs';

const cli = fileURLToPath(new URL('../apps/cli/', import.meta.url));
const desktop = fileURLToPath(new URL('../apps/desktop/', import.meta.url));
const { version } = await readJson(`${cli}package.json`);

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const dist = resolve(values.out ?? `${cli}dist`);

const { metafile, outputFiles } = await build({
  // Names in the output are relative to it.
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  entryPoints: {
    program: `${cli}src/main.ts`,
    'fuse-native-host': fileURLToPath(new URL('../packages/fuse-native-host/src/main.ts', import.meta.url)),
  },
  // The same for every --out: names of chunks depend on it, by their source maps.
  outdir: `${cli}dist`,
  write: false,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  // Only modules can be split; commonJsChunk() converts them.
  format: 'esm',
  sourcemap: 'external',
  metafile: true,
  logLevel: 'warning',
  define: { KEIBIDROP_VERSION: JSON.stringify(version), 'import.meta.url': 'moduleUrl' },
  // grpc-js loads proto-loader only for channelz and ORCA, which are not used: 350 KB less. The keyring is native, and need not be there.
  external: ['@grpc/proto-loader', '@napi-rs/keyring'],
  plugins: [fasterLibsodium],
}).catch(() => process.exit(1)); // esbuild has said why

await mkdir(dist, { recursive: true });
const written = new Set(['keibidrop.cjs']);
const textOf = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
for (const [name, text] of textOf) {
  if (!name.endsWith('.cjs')) continue;
  const { code, map } = await commonJsChunk(text, textOf.get(`${name}.map`));
  await writeFile(`${dist}/${name}`, code);
  await writeFile(`${dist}/${name}.map`, map);
  written.add(name).add(`${name}.map`);
}
for (const file of await readdir(dist)) {
  if (/\.[cm]js(\.map)?$/.test(file) && !written.has(file)) await rm(`${dist}/${file}`);
}
await writeEntry(dist, { version });

// A package names the licences of the libraries among them (scripts/pack).
const inputs = Object.keys(metafile.inputs).map((path) => fileURLToPath(new URL(`../${path}`, import.meta.url)));
await writeFile(
  `${dist}/library-files.json`,
  JSON.stringify(inputs.filter((path) => path.includes('/node_modules/')).sort()),
);

if (values.out !== undefined) process.exit();

const { status } = spawnSync(`${desktop}node_modules/.bin/vite`, ['build', '--logLevel', 'warn'], {
  cwd: desktop,
  // A test that sets up sets another one, which would build React's development version.
  env: { ...process.env, NODE_ENV: 'production' },
  stdio: ['ignore', 'inherit', 'inherit'],
});
if (status !== 0) process.exit(1);
await rm(`${cli}dist/page`, { recursive: true, force: true });
await cp(`${desktop}dist/renderer`, `${cli}dist/page`, { recursive: true });

// The rest of the desktop.
for (const script of ['pictures.mjs', 'bundle-desktop.mjs']) {
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

await bundleWindow();
await warmCodeCache(dist).catch(({ message }) =>
  console.warn(`no code cache, so the first commands start slower: ${message}`),
);

/** The window of `keibidrop desktop`: its page is dist/page, and it names the Electron that it was made for. */
async function bundleWindow() {
  const window = `${cli}dist/desktop`;
  await rm(window, { recursive: true, force: true });
  await mkdir(window);
  for (const part of ['main.cjs', 'preload.cjs', 'images']) {
    await cp(`${desktop}dist/${part}`, `${window}/${part}`, { recursive: true });
  }
  for (const name of await readdir(`${desktop}dist/icons`)) {
    if (/^(16|24|32|48|64|128|256)x\d+\.png$/.test(name))
      await cp(`${desktop}dist/icons/${name}`, `${window}/icons/${name}`);
  }
  await cp(`${desktop}images/icon.svg`, `${window}/icons/icon.svg`);
  const { desktopName } = await readJson(`${desktop}package.json`);
  await writeJson(`${window}/package.json`, { name: 'keibidrop', version, main: 'main.cjs', desktopName });
  await writeJson(`${window}/electron.json`, await electronRelease(`${desktop}node_modules/electron`));
}

/** Version of Electron, and the digests of its archives as its package has them. */
async function electronRelease(electron) {
  const { version } = await readJson(`${electron}/package.json`);
  const checksums = await readJson(`${electron}/checksums.json`);
  const platforms = ['linux', 'darwin', 'win32'].flatMap((system) => [`${system}-x64`, `${system}-arm64`]);
  const digests = platforms.map((platform) => [platform, checksums[`electron-v${version}-${platform}.zip`]]);
  return { version, sha256: Object.fromEntries(digests) };
}

async function readJson(path) {
  return JSON.parse(await readFile(path, 'utf8'));
}

function writeJson(path, value) {
  return writeFile(path, `${JSON.stringify(value, undefined, 2)}\n`);
}
