// SPDX-License-Identifier: MPL-2.0

// `npm run docs`: builds the documentation site from README.md and docs/ into site/build/out, and checks it (decision 035).
// Needs a network only to install VitePress, once.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'site');
const pages = join(site, 'build/pages');
const out = join(site, 'build/out');

install();
rmSync(join(site, 'build'), { recursive: true, force: true });
copyPages();
vitepress('build', pages, '--outDir', out);
check();
console.log(
  `The site is in ${relative(process.cwd(), out)}. To look at it: npx --prefix site vitepress preview ${relative(root, pages)} --outDir ${relative(root, out)}`,
);

function install() {
  const installed = join(site, 'node_modules/.modules.yaml');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(site, 'pnpm-lock.yaml')).mtimeMs) return;
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const words = ['-y', packageManager, 'install', '--frozen-lockfile', '--ignore-workspace', '--ignore-scripts'];
  execFileSync('npx', words, { cwd: site, stdio: 'inherit', env: { ...process.env, CI: 'true' } });
}

function vitepress(...words) {
  execFileSync(join(site, 'node_modules/.bin/vitepress'), words, { cwd: site, stdio: 'inherit' });
}

/** Copies the documents. VitePress refuses links that leave docs/, so these become text. */
function copyPages() {
  cpSync(join(root, 'docs'), pages, { recursive: true });
  for (const path of markdownIn(pages)) {
    const folder = join('docs', dirname(path));
    writeFileSync(join(pages, path), withPageLinks(readFileSync(join(pages, path), 'utf8'), folder));
  }
  writeFileSync(join(pages, 'index.md'), withPageLinks(readFileSync(join(root, 'README.md'), 'utf8'), '.'));
  writeFileSync(join(pages, 'decisions/index.md'), listOf('decisions'));
  mkdirSync(join(pages, '.vitepress'));
  cpSync(join(site, 'config.mjs'), join(pages, '.vitepress/config.mjs'));
}

function markdownIn(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.md'));
}

/** A page with the titles of all pages of a folder. */
function listOf(folder) {
  const names = readdirSync(join(pages, folder)).filter((name) => name.endsWith('.md') && name !== 'index.md');
  const items = names.sort().map((name) => {
    const [, title = name] = /^# (.+)$/m.exec(readFileSync(join(pages, folder, name), 'utf8')) ?? [];
    return `- [${title}](${name})`;
  });
  return `# Decisions\n\n${items.join('\n')}\n`;
}

/** Links of a document in `folder` of the repository, as links between pages of the site. */
function withPageLinks(text, folder) {
  return text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, image, label, target) => {
    if (/^[a-z]+:|^#/i.test(target)) return link;
    const [path, anchor = ''] = target.split(/(?=#)/);
    const meant = normalize(join(folder, path));
    if (meant === 'README.md') return `[${label}](/index.md)`;
    if (!existsSync(join(root, meant))) fail(`a link in ${folder} leads nowhere: ${target}`);
    if (!meant.startsWith('docs/')) return image ? '' : label;
    const page = statSync(join(root, meant)).isDirectory() ? `${meant}/index.md` : meant;
    return `${image}[${label}](/${page.slice('docs/'.length)}${anchor})`;
  });
}

/** Every page is there, the search knows its words, and nothing is loaded from elsewhere. */
function check() {
  const missing = markdownIn(pages).filter((name) => !existsSync(join(out, name.replace(/\.md$/, '.html'))));
  if (missing.length > 0) fail(`these pages were not built: ${missing.join(', ')}`);
  const files = readdirSync(out, { recursive: true });
  const index = files.find((name) => name.includes('localSearchIndex'));
  if (index === undefined) fail('there is no search index');
  const words = readFileSync(join(out, index), 'utf8').toLowerCase();
  for (const word of ['cpace', 'unmount', 'syncthing'])
    if (!words.includes(word)) fail(`the search does not know ${word}`);
  for (const name of files.filter((each) => each.endsWith('.html'))) {
    const foreign = /<(?:script|link|img)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/.exec(
      readFileSync(join(out, name), 'utf8'),
    );
    if (foreign) fail(`${name} loads something from elsewhere: ${foreign[0]}`);
  }
  console.log(`${markdownIn(pages).length} pages, all found and searchable`);
}

function fail(text) {
  console.error(`scripts/docs: ${text}`);
  process.exit(1);
}
