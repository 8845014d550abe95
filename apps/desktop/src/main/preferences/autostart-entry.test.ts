// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { autostartEntry } from './autostart-entry.ts';

it.each<[string, string[], string]>([
  ['plain', ['/opt/KeibiDrop/keibidrop', '--hidden'], '"/opt/KeibiDrop/keibidrop" "--hidden"'],
  ['with a space', ['/home/me/My Apps/a'], '"/home/me/My Apps/a"'],
  ['with shell syntax', ['/a/$(id)`x`"y"'], '"/a/\\\\$(id)\\\\`x\\\\`\\\\"y\\\\""'],
  ['with a backslash', ['/a\\b'], '"/a\\\\\\\\b"'],
  ['with a field code', ['/100%f'], '"/100%%f"'],
])('an entry runs a path %s unchanged', (_what, command, exec) => {
  expect(autostartEntry(command)).toContain(`\nExec=${exec}\n`);
});
