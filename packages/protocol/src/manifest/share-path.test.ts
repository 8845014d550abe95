// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkSharePath } from './share-path.ts';

const REFUSED: [string, string][] = [
  ['an absolute path', '/etc/passwd'],
  ['a way up', '../secret'],
  ['a way up in the middle', 'a/../../secret'],
  ['a dot', './a'],
  ['an empty name', 'a//b'],
  ['a slash at the end', 'a/'],
  ['a NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800'],
  ['a name over 255 bytes', 'n'.repeat(256)],
  ['over 32 KiB', `${'n'.repeat(200)}/`.repeat(200).slice(0, -1)],
  ['what is being received there', 'in/.keibidrop-partial/x'],
];

it.each(REFUSED)('refuses %s', (_what, path) => {
  expect(() => checkSharePath(path)).toThrow(expect.objectContaining({ code: 'SHARE_PATH_REFUSED' }));
});

it.each(['', 'a', 'a/b c/ü', '-', '...', 'a\\b', `${'d/'.repeat(4096)}f`])('accepts %j', (path) => {
  expect(checkSharePath(path)).toBe(path);
});

it('refuses every path that a system could resolve outside the share', () => {
  const part = fc.constantFrom('..', '.', '', 'a', '..a', 'b.', '\0', '/');
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const path = parts.join('/');
      try {
        checkSharePath(path);
      } catch {
        return;
      }
      expect(path === '' || path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')).toBe(true);
      expect(path.includes('\0')).toBe(false);
    }),
  );
});
