// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dolphinMenu, nautilusScript, nemoAction } from './send-actions.ts';
import { isWritten } from './written-mark.ts';

const COMMAND = ["/home/me/It's $mine/node", '/opt/a b.mjs', 'desktop'];
const NAMES = ['a b', '-rf', 'two\nlines', '🎈', '/an/absolute one', "it's", '$(id)', ''];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keibidrop-actions-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('the script of Nautilus hands over every name as a path', () => {
  const script = join(folder, 'script');
  writeFileSync(script, nautilusScript([process.execPath, '-e', 'console.log(JSON.stringify(process.argv.slice(1)))']));
  const { stdout } = spawnSync('sh', [script, ...NAMES], { cwd: folder, encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual(NAMES.map((name) => (name.startsWith('/') ? name : `${folder}/${name}`)));
});

it('the action of Nemo gets addresses, and quotes its command as a shell does', () => {
  expect(nemoAction(['/a b', "c'd", 'e\\f', '5%'])).toContain(`\nExec='/a b' 'c'\\\\''d' 'e\\\\f' '5%%' %U\n`);
  expect(nemoAction(COMMAND)).toContain('\nQuote=double\n');
});

it('the menu of Dolphin is for files and folders', () => {
  expect(dolphinMenu(COMMAND)).toContain('\nMimeType=application/octet-stream;inode/directory;\n');
  expect(dolphinMenu(COMMAND)).toMatch(
    /\[Desktop Action send\]\nName=Send with KeibiDrop\nName\[de\]=Mit KeibiDrop senden\n/,
  );
});

it.each([nautilusScript, nemoAction, dolphinMenu])('%o is recognised as written here', (write) => {
  expect(isWritten(write(COMMAND))).toBe(true);
  expect(isWritten(write(COMMAND).replaceAll('Integration=1', ''))).toBe(false);
});
