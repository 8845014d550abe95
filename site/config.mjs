// SPDX-License-Identifier: MPL-2.0

// Settings of VitePress; scripts/docs.mjs copies this file beside the pages.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pages = fileURLToPath(new URL('..', import.meta.url));

function group(text, folder, names = readdirSync(`${pages}/${folder}`)) {
  const files = names.filter((name) => name.endsWith('.md') && name !== 'index.md').sort();
  return { text, collapsed: true, items: files.map((name) => itemOf(folder, name.slice(0, -3))) };
}

function itemOf(folder, name) {
  return { text: name.replaceAll('-', ' '), link: `/${folder}/${name}` };
}

export default {
  title: 'KeibiDrop',
  description: 'Send files to another computer, directly and end-to-end encrypted',
  // The folder of the server in which the site lies.
  base: process.env.KD_DOCS_BASE ?? '/',
  cleanUrls: false,
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    sidebar: [
      { text: 'KeibiDrop', link: '/' },
      { text: 'Command line', link: '/cli' },
      { text: 'Beside other programs', link: '/compare' },
      { text: 'Scripts and agents', link: '/AGENTS' },
      { text: 'Your own server', link: '/relay' },
      { text: 'Security', link: '/SECURITY' },
      { text: 'Protocol', link: '/PROTOCOL' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'Ports', link: '/PORTING' },
      group('Architecture', 'architecture'),
      group('Decisions', 'decisions'),
    ],
  },
};
