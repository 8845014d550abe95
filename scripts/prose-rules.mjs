// SPDX-License-Identifier: MPL-2.0

// node scripts/prose-rules.mjs [PATH]...     lists what breaks the rules for plain English, below these paths
// node scripts/prose-rules.mjs --count       counts it by room, as scripts/prose-counts.json keeps it
//
// The rules: a comment or the name of a test does not open with What, Who, Whoever, Whose or Of. Comments, documents, names of tests
// and texts for users contain none of WORDS. A sentence has at most 30 words, a line of Markdown 100 columns, a cell of a table 80.
// scripts/prose-counts.json may allow a folder some flaws; its numbers only shrink.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MOST_WORDS = 30;
const MOST_COLUMNS = 100;
const MOST_CELL = 80;
const OPENING = /^(What|Who|Whoever|Whose|Of)\b/;
/** The same at the end of a line of code, where a comment may begin with a small letter. */
const OPENING_BEHIND = /^(what|who|whoever|whose)\b/i;
const WORDS = new RegExp(
  '\\b(' +
    'told|anew|afresh|nobody|somebody|anybody|everybody|whoever|(?:go|goes|going|went|gone) on|' +
    '(?:for|of|by|to|from|than|as) who|what (?:is|was) (?:there|known|behind|written|not)|(?:comes? to )?stands? (?:there|on the)' +
    ')\\b',
  'i',
);
/** The same in the name of a test of C++, which is one word. */
const JOINED_WORDS = /(Told|Anew|Nobody|Somebody|Whoever|(?:Go|Goes|Going|Went|Gone)On)(?=[A-Z]|$)/;
const CODE = /\.(ts|tsx|mjs|cjs|cc|h|proto|css)$/;
const SHELL = /^#!.*\b(sh|bash|python3)\b/;
const GOOGLE_TESTED = /^TEST(?:_[FP])?\(\w+, (\w+)\)/;
const TESTED = /\b(?:it|test|describe)(?:\.\w+)*(?:\([^)]*\))?\(\s*(['"`])((?:(?!\1).)+)\1/g;
/** Files whose string literals a user reads. */
const FOR_USERS = /^(apps\/cli\/src\/|packages\/protocol\/src\/error-table\.ts$)/;
const TEXTS = /^apps\/desktop\/src\/.*\/texts\/(en\/\w+|en)\.json$/;
const LITERAL = /(['"`])((?:\\.|(?!\1).)*)\1/g;

/** Comments of a source file, each with its first line: consecutive line comments are one. */
function commentsOf(source) {
  const comments = [];
  let block;
  let inside = false;
  source.split('\n').forEach((line, index) => {
    const own = inside ? /^\s*\*?\s?(.*?)(\*\/.*)?$/.exec(line) : /^\s*(?:\/\/|\/\*\*?)\s?(.*?)(\*\/.*)?$/.exec(line);
    const starred = inside || /^\s*\/\*/.test(line);
    if (own && !/SPDX|biome-ignore/.test(line)) {
      if (block === undefined || (starred && !inside)) {
        block = { line: index + 1, text: '' };
        comments.push(block);
      }
      block.text += `${own[1].trim()}\n`;
      inside = starred && !line.includes('*/');
      if (starred && !inside) block = undefined;
      return;
    }
    block = undefined;
    const behind = /\S.*?\s\/\/ (.+)$/.exec(line);
    if (behind && !/https?:$/.test(line.slice(0, behind.index)))
      comments.push({ line: index + 1, text: behind[1], isBehind: true });
  });
  return comments;
}

/** Comments of a shell or Python script. */
function scriptComments(source) {
  const comments = [];
  let block;
  source.split('\n').forEach((line, index) => {
    const own = /^\s*#(?!!)\s?(.*)$/.exec(line);
    if (!own || /SPDX|shellcheck/.test(line)) {
      block = undefined;
      return;
    }
    if (block === undefined) {
      block = { line: index + 1, text: '' };
      comments.push(block);
    }
    block.text += `${own[1].trim()}\n`;
  });
  return comments;
}

/** Sentences of a text, without code and addresses. */
function sentencesOf(text) {
  return text
    .replace(/`[^`]*`/g, 'code')
    .replace(/\n\s*\n|\n(?=\s*(?:[-*|@]|\d+\.) ?)/g, '. ')
    .split(/[.!?:;](?:\s|$)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

function* prose(text) {
  const word = WORDS.exec(text);
  if (word) yield `"${word[0]}"`;
  for (const sentence of sentencesOf(text)) {
    const words = sentence.split(/\s+/).filter((part) => /\w/.test(part)).length;
    if (words > MOST_WORDS) yield `a sentence of ${words} words`;
  }
}

function* inComments(comments) {
  for (const { line, text, isBehind } of comments) {
    const opening = (isBehind ? OPENING_BEHIND : OPENING).exec(text);
    if (opening) yield { line, flaw: `opens with "${opening[1]}"` };
    for (const flaw of prose(text)) yield { line, flaw };
  }
}

function* inCode(path, source) {
  yield* inComments(commentsOf(source));
  const [pattern, kind] = /\.(test|soak|release)\.tsx?$|-contract\.ts$/.test(path)
    ? [TESTED, 'the name of a test']
    : FOR_USERS.test(path)
      ? [LITERAL, 'a text for users']
      : [];
  for (const [index, text] of path.endsWith('_test.cc') ? source.split('\n').entries() : []) {
    const word = JOINED_WORDS.exec(GOOGLE_TESTED.exec(text)?.[1] ?? '');
    if (word) yield { line: index + 1, flaw: `the name of a test says "${word[0]}"` };
  }
  if (pattern === undefined) return;
  for (const [index, text] of source.split('\n').entries()) {
    if (/^\s*(\/\/|\*|\/\*)/.test(text)) continue;
    for (const [, , words] of text.matchAll(pattern)) {
      const word = WORDS.exec(words) ?? (pattern === TESTED ? OPENING_BEHIND.exec(words) : undefined);
      if (word) yield { line: index + 1, flaw: `${kind} says "${word[0]}"` };
    }
  }
}

function* inMarkdown(_, source) {
  let fenced = false;
  let paragraph = '';
  let begun = 0;
  const lines = source.split('\n');
  for (const [index, text] of lines.entries()) {
    if (text.startsWith('```')) fenced = !fenced;
    if (fenced || text.startsWith('```')) continue;
    const table = text.startsWith('|');
    if (table) {
      if (text.split('|').some((cell) => cell.trim().length > MOST_CELL))
        yield { line: index + 1, flaw: `a cell of more than ${MOST_CELL}` };
      const word = WORDS.exec(text);
      if (word) yield { line: index + 1, flaw: `"${word[0]}"` };
    } else if (text.length > MOST_COLUMNS && /\s/.test(text.trim())) {
      yield { line: index + 1, flaw: `${text.length} columns` };
    }
    if (paragraph === '') begun = index + 1;
    paragraph += table ? '' : `${text}\n`;
    if (text === '' || index === lines.length - 1) {
      for (const flaw of prose(paragraph)) yield { line: begun, flaw };
      paragraph = '';
    }
  }
}

function* inTexts(_, source) {
  for (const [index, line] of source.split('\n').entries()) {
    const word = WORDS.exec(line);
    if (word) yield { line: index + 1, flaw: `a text for users says "${word[0]}"` };
  }
}

/** Every flaw below `paths` as { path, line, flaw }. */
function flawsOf(root, paths = []) {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...paths], {
    cwd: root,
    encoding: 'utf8',
  });
  const flaws = [];
  for (const path of listed.split('\n').filter((name) => name !== '' && !name.startsWith('scripts/prose-'))) {
    let kind = CODE.test(path) ? inCode : path.endsWith('.md') ? inMarkdown : TEXTS.test(path) ? inTexts : undefined;
    if (kind === undefined && /\.\w+$/.test(path) && !/\.(sh|py)$/.test(path)) continue;
    let source;
    try {
      source = readFileSync(join(root, path), 'utf8');
    } catch {
      continue; // removed, and not yet for git
    }
    if (kind === undefined && SHELL.test(source)) kind = (_, script) => inComments(scriptComments(script));
    for (const one of kind?.(path, source) ?? []) flaws.push({ path, ...one });
  }
  return flaws;
}

/** The folder by which flaws are counted. */
function roomOf(path) {
  const parts = path.split('/');
  if (parts[0] === 'native' && parts[1] === 'src') return parts.slice(0, 3).join('/');
  return parts.length === 1
    ? 'top'
    : parts[0] === 'apps' || parts[0] === 'packages' || parts[0] === 'native'
      ? parts.slice(0, 2).join('/')
      : parts[0];
}

function countsOf(flaws) {
  const counts = {};
  for (const { path } of flaws) counts[roomOf(path)] = (counts[roomOf(path)] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort());
}

/** A sentence for each room that has more flaws than scripts/prose-counts.json allows. */
export function brokenProseRules(root) {
  const allowed = JSON.parse(readFileSync(join(root, 'scripts/prose-counts.json'), 'utf8'));
  const flaws = flawsOf(root);
  return Object.entries(countsOf(flaws)).flatMap(([room, count]) => {
    if (count <= (allowed[room] ?? 0)) return [];
    const lines = flaws
      .filter(({ path }) => roomOf(path) === room)
      .map(({ path, line, flaw }) => `  ${path}:${line}: ${flaw}`);
    return [`${room}: ${count} flaws of language, ${allowed[room] ?? 0} are allowed. All of them:`, ...lines];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [first, ...more] = process.argv.slice(2);
  if (first === '--count') console.log(JSON.stringify(countsOf(flawsOf(root)), null, 2));
  else
    for (const { path, line, flaw } of flawsOf(root, first === undefined ? [] : [first, ...more]))
      console.log(`${path}:${line}: ${flaw}`);
}
