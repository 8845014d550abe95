// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

export interface Asset {
  type: string;
  body: Buffer;
}

/** The files of the page by URL path. */
export type PageAssets = ReadonlyMap<string, Asset>;

const INDEX = 'index.html';
/** Files of other types are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

const MISSING = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>KeibiDrop</title>
<link rel="icon" href="data:,">
<h1>The page is missing</h1>
<p>This KeibiDrop was built without its page. In a checkout, run <code>scripts/setup</code>, then <code>keibidrop stop</code> and
<code>keibidrop ui</code>. Everything can be done on the command line as well: <code>keibidrop --help</code>.</p>
`;

/** Reads the page once, so that all files are of one build. Without a page, serves a page that says so. */
export async function readPage(folder: string | undefined): Promise<PageAssets> {
  const assets = new Map<string, Asset>();
  for (const file of await filesOf(folder)) {
    const type = TYPES[extname(file)];
    if (type === undefined || folder === undefined) continue;
    const path = relative(folder, file).split(sep).map(encodeURIComponent).join('/');
    assets.set(`/${path}`, { type, body: await readFile(file) });
  }
  assets.set('/', assets.get(`/${INDEX}`) ?? { type: 'text/html', body: Buffer.from(MISSING) });
  return assets;
}

async function filesOf(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return [];
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
