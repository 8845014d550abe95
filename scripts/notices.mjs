// SPDX-License-Identifier: MPL-2.0

// THIRD-PARTY-NOTICES: the licences of everything that is not ours in a package.
//   node scripts/notices.mjs     writes that of the whole project again; needs scripts/setup
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LICENCE_FILE = /^(licen[sc]es?|copying|notice)([.-].*)?$/i;
const RULE = '-'.repeat(80);

/** The npm packages that `files` belong to, each as { name, version, licence, texts }, by name. */
export function librariesOf(files) {
  const directories = new Set(files.flatMap(packageDirectory));
  const found = [...directories].map(libraryIn).filter(({ name }) => !name.startsWith('@keibidrop/'));
  const once = new Map(found.map((library) => [`${library.name} ${library.version}`, library]));
  return [...once.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A library that comes with no package.json. @param file  with the text of its licence */
export function libraryWith(name, licence, file, version = '') {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+.*/, '');
  const purl = `pkg:generic/${slug}${version && `@${version}`}`;
  return { name, version, licence, texts: [readFileSync(file, 'utf8')], purl };
}

/** Version of the OpenSSL that scripts/libcrypto builds. */
export function opensslVersion(root) {
  const lock = readFileSync(join(root, 'native/libcrypto/Cargo.lock'), 'utf8');
  return /name = "openssl-src"\nversion = "[^+"]+\+([^"]+)"/.exec(lock)[1];
}

/** All that a build of this checkout contains; what only release builds link is in the notices of their packages. */
function projectLibraries(root) {
  const files = ['cli', 'desktop'].flatMap((app) =>
    JSON.parse(readFileSync(join(root, `apps/${app}/dist/library-files.json`), 'utf8')),
  );
  const addon = ['node-addon-api', 'node-api-headers'].map((name) =>
    join(realpathSync(join(root, 'native/node_modules', name)), 'package.json'),
  );
  const openssl = libraryWith(
    'OpenSSL (libcrypto)',
    'Apache-2.0',
    join(root, 'native/libcrypto/LICENSE.txt'),
    opensslVersion(root),
  );
  return [...librariesOf([...files, ...addon]), openssl];
}

export const projectNotices = (root) =>
  notices(projectLibraries(root), 'A build of it contains these works of others:');

export function notices(libraries, contents = 'This package contains these works of others:') {
  const parts = libraries.map(({ name, version, licence, texts }) =>
    [
      `${name} ${version}`.trim(),
      `Licence: ${licence}`,
      ...texts.map((text) => text.trim().replaceAll('\r\n', '\n')),
    ].join('\n\n'),
  );
  const head = `KeibiDrop is licensed under the MPL-2.0 (LICENSE). ${contents}`;
  return `${[head, ...parts].join(`\n\n${RULE}\n\n`)}\n`;
}

function packageDirectory(file) {
  return /^(.*\/node_modules\/(@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [];
}

function libraryIn(directory) {
  const {
    name = basename(directory),
    version,
    license,
    author,
  } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const files = readdirSync(directory, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && LICENCE_FILE.test(entry.name),
  );
  const texts = files.map((entry) => readFileSync(join(directory, entry.name), 'utf8'));
  const owner = typeof author === 'object' ? author.name : author;
  if (texts.length === 0 && owner !== undefined) texts.push(`Copyright: ${owner}`);
  return { name, version, licence: license?.type ?? license ?? 'see below', texts };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(join(root, 'THIRD-PARTY-NOTICES'), projectNotices(root));
}
