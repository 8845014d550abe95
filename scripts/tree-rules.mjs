// SPDX-License-Identifier: MPL-2.0

// Rules about files that no linter knows: size, licence line, names, and the C++ ladder. One function for all, used by check.mjs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { methodCounts } from './class-sizes.mjs';

const NOT_OURS = new Set(['node_modules', '.git', 'dist', 'gen', 'coverage']);
const MAX_LINES = { '.ts': 400, '.tsx': 400, '.css': 400, '.mjs': 400, '.cjs': 400, '.cc': 500, '.h': 500 };
const NO_HOME_NAME = /^(utils?|helpers?|common|misc)\b/; // a function lives with the concept it serves
// native/src: a folder includes itself and folders before it in this list.
const LADDER =
  'core aead kem frame relay platform manifest disk net send receive share remote mount fuse bench napi'.split(' ');
/** Retired names of files, by folders of native/src and native/test: the pattern of what stands before the extension. */
const RETIRED_NAMES = [
  [
    '\\w+',
    'asks|writes|child|survey|barrier|doorbell|noise|local_put|put_journal|written_files?|undecided|fold|punch(es)?|file_pool',
  ],
  ['remote|mount|share', 'draft'],
  ['mount', 'tree|tree_node|walks|uses|numbers|link|message|putting|own_work'],
  ['fuse', 'host|room|arrivals|waiting|passing|naming|reading|writing|serving|fetching'],
].map(
  ([folder, name]) => new RegExp(`^native/(src|test)/(${folder})/(${name})(_test|_linux|_darwin|_windows)?\\.(cc|h)$`),
);
/** The same of modules in packages, apps and native/lib. */
const RETIRED_MODULES =
  'act arrived-peer better-path contact-desk contact-talk contact-visits daemon-door door door-records door-registry ' +
  'draft drop-door fold guest-turn holes http-door identity-keeper kept-file lan-door lane-keeper meet-sender ' +
  'meeting-desk own-way punches questions recent-calls saving send-to send-visiting share-host share-visiting slots ' +
  'survey tls-door way-back';
/** The store of an unsent message, which is a draft. */
const DRAFT_OF_A_SEND = 'apps/desktop/src/renderer/store/draft.ts';
RETIRED_NAMES.push(
  new RegExp(
    `^(packages|apps|native/lib)/(.*/)?((${RETIRED_MODULES.replaceAll(' ', '|')})|([\\w-]+-)?figures)(\\.test)?\\.(tsx?|mjs|css)$`,
  ),
);
const LIMITED_FOLDERS = /^(native|packages\/[\w-]+|apps\/[\w-]+)\/src(\/|$)/;
const MAX_FILES = 25;
const MAX_METHODS = 30;

function* sourceFiles(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (!NOT_OURS.has(entry.name) && !/^build(-|$)/.test(entry.name)) yield* sourceFiles(path);
    } else if (extname(path) in MAX_LINES) {
      yield path;
    }
  }
}

function brokenIncludes(path, text) {
  const folder = /^native\/src\/(\w+)\//.exec(path)?.[1];
  if (folder === undefined) return [];
  const broken = [];
  if (!LADDER.includes(folder)) broken.push(`native/src/${folder} has no place in LADDER of scripts/tree-rules.mjs`);
  for (const [, included] of text.matchAll(/^#include\s+["<]([^">]+)[">]/gm)) {
    if (/^(napi\.h|node_api\.h|js_native_api\.h)$/.test(included) && folder !== 'napi') {
      broken.push(`includes ${included}: only native/src/napi may`);
    }
    if (LADDER.indexOf(included.split('/')[0]) > LADDER.indexOf(folder)) {
      broken.push(`includes ${included}, which stands above ${folder}`);
    }
  }
  return broken;
}

/** The namespace of a C++ file is its folder; other folders may appear only in forward declarations. */
function wrongNamespace(path, text) {
  const folder = /^native\/src\/(\w+)\//.exec(path)?.[1];
  const named = [...text.matchAll(/^namespace keibi::(\w+)/gm)].map(([, name]) => name);
  if (folder === undefined || named.length === 0 || named.includes(folder)) return [];
  return [`is in namespace keibi::${named[0]}, its folder is ${folder}`];
}

/**
 * Folders with too many files of their own. A .cc, its .h and its system variants count as one file, as do a module and
 * its test.
 */
function largeFolders(paths) {
  const folders = new Map();
  for (const path of paths.filter((each) => LIMITED_FOLDERS.test(each))) {
    const file = basename(path).replace(
      /(_(linux|darwin|windows|gnu|musl))?\.(cc|h)$|(\.test)?\.(tsx?|css|mjs|cjs)$/,
      '',
    );
    const folder = dirname(path);
    folders.set(folder, (folders.get(folder) ?? new Set()).add(file));
  }
  const broken = [];
  for (const [folder, { size }] of folders) {
    if (size > MAX_FILES) broken.push(`${folder}: ${size} files of its own, at most ${MAX_FILES}: split it into rooms`);
  }
  return broken;
}

/** C++ classes of a file with too many methods. */
function largeClasses(path, text) {
  if (!/^native\/src\/.*\.(cc|h)$/.test(path)) return [];
  return [...methodCounts(text)]
    .filter(([, count]) => count > MAX_METHODS)
    .map(([name, count]) => `class ${name} has ${count} methods, at most ${MAX_METHODS}: split it`);
}

/** docs/SECURITY.md names the test of each sentence, within `packages/` where no such file stands in the root. */
function missingTests(root) {
  const text = readFileSync(join(root, 'docs/SECURITY.md'), 'utf8');
  const named = [...text.matchAll(/`([\w/-]+(?:\.test\.ts|_test\.cc))`/g)].map(([, path]) => path);
  const missing = named.filter((path) => !['', 'packages'].some((folder) => existsSync(join(root, folder, path))));
  return missing.map((path) => `docs/SECURITY.md: there is no test ${path}`);
}

/** Every broken rule of the files under `root`, each as `path: what is wrong`. */
export function brokenTreeRules(root) {
  const broken = [];
  const paths = [];
  for (const file of sourceFiles(root)) {
    const path = relative(root, file);
    paths.push(path);
    const text = readFileSync(file, 'utf8');
    const lines = text.split('\n').length - 1;
    const limit = MAX_LINES[extname(path)];
    if (lines > limit) broken.push(`${path}: ${lines} lines, at most ${limit}`);
    if (!text.slice(0, 200).includes('SPDX-License-Identifier: MPL-2.0')) broken.push(`${path}: no SPDX line`);
    if (NO_HOME_NAME.test(basename(path))) broken.push(`${path}: a name that says nothing`);
    if (path !== DRAFT_OF_A_SEND && RETIRED_NAMES.some((name) => name.test(path)))
      broken.push(`${path}: a retired name`);
    broken.push(
      ...[...brokenIncludes(path, text), ...wrongNamespace(path, text), ...largeClasses(path, text)].map(
        (problem) => `${path}: ${problem}`,
      ),
    );
  }
  return [...broken, ...largeFolders(paths), ...missingTests(root)];
}
