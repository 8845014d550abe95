// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { autostartEntry, desktopEntry } from './desktop-entry.ts';
import { thunarEntry } from './send-actions.ts';
import { isWritten } from './written-mark.ts';

it.each<[string, string[], string]>([
  ['plain', ['/opt/KeibiDrop/keibidrop', '--hidden'], '"/opt/KeibiDrop/keibidrop" "--hidden"'],
  ['with a space', ['/home/me/My Apps/a'], '"/home/me/My Apps/a"'],
  ['with shell syntax', ['/a/$(id)`x`"y"'], '"/a/\\\\$(id)\\\\`x\\\\`\\\\"y\\\\""'],
  ['with a backslash', ['/a\\b'], '"/a\\\\\\\\b"'],
  ['with a field code', ['/100%f'], '"/100%%f"'],
])('an entry runs a path %s unchanged', (_what, command, exec) => {
  expect(autostartEntry(command)).toContain(`\nExec=${exec}\n`);
});

describe('desktop-file-validate', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keibidrop-entries-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['the entry of the menu', desktopEntry],
    ['the start at login', autostartEntry],
    ['the entry of Thunar', thunarEntry],
  ])('accepts %s', (_what, write) => {
    const path = join(folder, 'entry.desktop');
    const text = write(['/home/me/My $Apps/100%/keibidrop', 'desktop']);
    writeFileSync(path, text);
    const { status, stdout, stderr } = spawnSync('desktop-file-validate', [path], { encoding: 'utf8' });
    expect({ status, printed: stdout + stderr }).toEqual({ status: 0, printed: '' });
    expect(isWritten(text)).toBe(true);
  });
});

it('the entry of the menu opens links, and is the program for no type of file', () => {
  expect(desktopEntry(['/a'])).toContain('\nExec="/a" %U\n');
  expect(desktopEntry(['/a'])).toContain('\nMimeType=x-scheme-handler/keibidrop;\n');
});
