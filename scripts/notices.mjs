// SPDX-License-Identifier: MPL-2.0

// THIRD-PARTY-NOTICES: the licences of everything that is not ours in a package.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const LICENCE_FILE = /^(licen[sc]es?|copying|notice)([.-].*)?$/i;
const RULE = '-'.repeat(80);

/** The npm packages that `files` belong to, each as { name, version, licence, texts }, by name. */
export function librariesOf(files) {
  const directories = new Set(files.flatMap(packageDirectory));
  const found = [...directories].map(libraryIn).filter(({ name }) => !name.startsWith('@keibidrop/'));
  const once = new Map(found.map((library) => [`${library.name} ${library.version}`, library]));
  return [...once.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A library that comes with no package.json. @param files  with the text of its licence */
export function libraryWith(name, licence, ...files) {
  return { name, version: '', licence, texts: files.map((path) => readFileSync(path, 'utf8')) };
}

export function notices(libraries) {
  const parts = libraries.map(({ name, version, licence, texts }) =>
    [`${name} ${version}`.trim(), `Licence: ${licence}`, ...texts.map((text) => text.trim())].join('\n\n'),
  );
  const head = 'KeibiDrop is licensed under the MPL-2.0 (LICENSE). This package contains these works of others:';
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
