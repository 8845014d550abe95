// SPDX-License-Identifier: MPL-2.0

// Writes the npm packages, started by scripts/pack: see there.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { transform } from 'esbuild';
import { beyondFloor, elfNeeds } from './elf-needs.mjs';
import { librariesOf, libraryWith, notices, opensslVersion } from './notices.mjs';
import { writeEntry } from './program-files.mjs';
import { sbomOf } from './sbom.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));
const cli = readJson('apps/cli/package.json');
const platforms = readJson('native/platforms.json');
const { version, license } = cli;

// The names stay: a report of a bug shows them. THIRD-PARTY-NOTICES has the licences.
const SMALLER = {
  format: 'cjs',
  target: 'node20.19',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
};
// Electron 45 contains Node 24.
const SMALLER_WINDOW = { ...SMALLER, target: 'node24' };
// Those that were built and run. scripts/cross has targets for musl, too; macOS and Windows need a machine of their own.
const TRIED = ['linux-x64-gnu', 'linux-arm64-gnu'];
const FILES = ['keibidrop.node', 'keibidrop-mount'];
// npm's own date for files in packages: the same content gives the same bytes.
const MTIME = '1985-10-26 08:15:00Z';

const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string' }, built: { type: 'boolean' } },
});
if (values.out === undefined || (values.built && values.only !== undefined)) {
  fail('usage: scripts/pack --out DIR [--only PLATFORM,... | --built]');
}
const out = resolve(values.out);
const work = mkdtempSync(join(tmpdir(), 'keibidrop-pack-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

mkdirSync(out, { recursive: true });
const wanted = values.built ? [thisPlatform()] : (values.only?.split(',') ?? TRIED);
if (!values.built) {
  const { status } = spawnSync(join(root, 'scripts/cross'), wanted, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(1);
}
const written = [await packProgram(), ...wanted.map(packPlatform)];
for (const path of written) console.log(path);

function fail(text) {
  console.error(`scripts/pack: ${text}`);
  process.exit(1);
}

function thisPlatform() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  return `${name}-${process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'}`;
}

/** The program: JavaScript, the page and the window. */
async function packProgram() {
  const folder = begin('keibidrop');
  const dist = join(root, 'apps/cli/dist');
  mkdirSync(join(folder, 'dist'));
  for (const name of readdirSync(dist).filter((each) => each.endsWith('.cjs'))) {
    const { code } = await transform(readFileSync(join(dist, name), 'utf8'), SMALLER);
    writeFileSync(join(folder, 'dist', name), code);
  }
  await writeEntry(join(folder, 'dist'), { version, ...SMALLER });
  cpSync(join(dist, 'page'), join(folder, 'dist/page'), { recursive: true });
  cpSync(join(dist, 'desktop'), join(folder, 'dist/desktop'), { recursive: true });
  for (const name of ['main.cjs', 'preload.cjs']) {
    const { code } = await transform(readFileSync(join(dist, 'desktop', name), 'utf8'), SMALLER_WINDOW);
    writeFileSync(join(folder, 'dist/desktop', name), code);
  }
  cpSync(join(root, 'apps/cli/README.md'), join(folder, 'README.md'));
  mkdirSync(join(folder, 'man'));
  writeFileSync(
    join(folder, 'man/keibidrop.1'),
    execFileSync(process.execPath, [join(dist, 'keibidrop.cjs'), 'help', '--man']),
  );
  const libraries = librariesOf(bundledFiles());
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), notices(libraries));
  const native = Object.keys(platforms).map((platform) => [`@keibidrop/${platform}`, version]);
  const { name, description, type, engines } = cli;
  return writePackage(folder, 'keibidrop', libraries, {
    name,
    version,
    description,
    license,
    keywords: ['file-transfer', 'end-to-end-encryption', 'peer-to-peer', 'cli'],
    type,
    bin: { keibidrop: 'dist/keibidrop.cjs' },
    man: ['./man/keibidrop.1'],
    engines,
    optionalDependencies: { '@napi-rs/keyring': installedVersion('@napi-rs/keyring'), ...Object.fromEntries(native) },
  });
}

/** The files of libraries that the bundles are made from. */
function bundledFiles() {
  const lists = [
    'apps/cli/dist/library-files',
    'apps/desktop/dist/library-files',
    'apps/desktop/dist/window-library-files',
  ];
  return lists.flatMap((list) => readJson(`${list}.json`));
}

/** Version of a module as this workspace has it. */
function installedVersion(name) {
  const require = createRequire(join(root, 'packages/contacts/package.json'));
  return JSON.parse(readFileSync(join(moduleDirectory(require, name), 'package.json'), 'utf8')).version;
}

function moduleDirectory(require, name) {
  const places = require.resolve.paths(name) ?? [];
  const found = places.map((place) => join(place, name)).find((place) => existsSync(join(place, 'package.json')));
  return found ?? fail(`${name} is not installed: run scripts/setup`);
}

/** The addon and the mount host for one platform. */
function packPlatform(platform) {
  const { os, cpu, libc } = platforms[platform] ?? fail(`there is no package for ${platform}`);
  const build = join(root, values.built ? 'native/build' : `native/build-${platform}`);
  const folder = begin(platform);
  for (const name of FILES) {
    const path = join(folder, name);
    if (!existsSync(join(build, name))) fail(`${join(build, name)} was not built`);
    cpSync(join(build, name), path);
    chmodSync(path, 0o755);
    if (values.built) execFileSync('strip', ['--strip-unneeded', path]);
    else checkFloor(platform, path);
  }
  writeFileSync(join(folder, 'README.md'), `The native part of the package keibidrop for ${platform}.\n`);
  const libraries = nativeLibraries(platform);
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), notices(libraries));
  return writePackage(folder, `keibidrop-${platform}`, libraries, {
    name: `@keibidrop/${platform}`,
    version,
    description: `The native part of keibidrop for ${platform}`,
    license,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    engines: cli.engines,
    preferUnplugged: true,
  });
}

function checkFloor(platform, path) {
  const beyond = beyondFloor(elfNeeds(path), platforms[platform].libc);
  if (beyond.length > 0) fail(`${path} for ${platform} does not run on the oldest system: ${beyond.join(', ')}`);
}

function nativeLibraries(platform) {
  const native = createRequire(join(root, 'native/package.json'));
  const headers = ['node-addon-api', 'node-api-headers'].map((name) => join(moduleDirectory(native, name), 'x'));
  const libcrypto = ['native/build-libcrypto', `native/build-libcrypto-${platform}`].map((path) => join(root, path));
  const openssl = join(libcrypto[values.built ? 0 : 1], 'LICENSE.txt');
  const zig = join(root, 'native/build-zig/ziglang');
  return [
    ...librariesOf(headers),
    ...(existsSync(openssl) ? [libraryWith('OpenSSL (libcrypto)', 'Apache-2.0', openssl, opensslVersion(root))] : []),
    ...(values.built
      ? []
      : [
          libraryWith(
            'LLVM libc++, libc++abi, libunwind',
            'Apache-2.0 WITH LLVM-exception',
            join(zig, 'lib/libcxx/LICENSE.TXT'),
          ),
          libraryWith('Zig compiler-rt', 'MIT', join(zig, 'LICENSE')),
        ]),
  ];
}

function begin(name) {
  const folder = join(work, name, 'package');
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}

/** As `npm pack` writes and names it, but always with the same bytes; and its bill of materials beside it. */
function writePackage(folder, name, libraries, manifest) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const path = join(out, `${name}-${version}.tgz`);
  const same = ['--sort=name', `--mtime=${MTIME}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  execFileSync('tar', [...same, '--use-compress-program=gzip -9n', '-cf', path, 'package'], { cwd: dirname(folder) });
  const about = { name: manifest.name, version, licence: license, file: path };
  writeFileSync(join(out, `${name}-${version}.cdx.json`), sbomOf(about, libraries));
  return path;
}
