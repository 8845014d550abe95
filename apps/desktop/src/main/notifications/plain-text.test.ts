// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { menuText, noticeText, plainText } from './plain-text.ts';

describe("a peer's words", () => {
  it.each<[string, string, string]>([
    ['stay unchanged', 'Grüße 📋 日本', 'Grüße 📋 日本'],
    ['lose line ends', 'a\nb\r\u2028c', 'a\ufffdb\ufffd\ufffdc'],
    ['lose escapes', '\u001b[31mred', '\ufffd[31mred'],
    ['lose direction marks', 'exe.\u202efdp', 'exe.\ufffdfdp'],
    ['lose invisible characters', 'a\u200bb\u{e0041}', 'a\ufffdb\ufffd'],
    ['lose half characters', 'a\ud83d', 'a\ufffd'],
  ])('%s', (_what, words, shown) => {
    expect(plainText(words)).toBe(shown);
  });

  it('are shortened', () => {
    expect(plainText('😀'.repeat(100))).toBe(`${'😀'.repeat(59)}…`);
  });

  it('cannot underline a letter in a menu or add markup to a notification', () => {
    expect(menuText('R&D <b>')).toBe('R&&D <b>');
    expect(noticeText('R&D <a href="x">')).toBe('R＆D ‹a href="x"›');
  });
});
