// SPDX-License-Identifier: MPL-2.0

/** Control characters, those that turn the direction of text or hide in it, line separators, halves of surrogate pairs. */
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;
const MAX_LENGTH = 60;

/** A peer's words on one line: short, and with nothing in them that acts on what shows them. */
export function plainText(text: string, longest = MAX_LENGTH): string {
  const letters = [...text.replace(UNSAFE, '\u{fffd}')];
  return letters.length <= longest ? letters.join('') : `${letters.slice(0, longest - 1).join('')}…`;
}

/** For a menu, in which & underlines the letter after it. */
export function menuText(text: string): string {
  return plainText(text).replace(/&/g, '&&');
}

/** For a notification: what shows them on Linux may take `<` and `&` for markup, and others show what stands for them. */
export function noticeText(text: string): string {
  return plainText(text, 2 * MAX_LENGTH)
    .replace(/</g, '‹')
    .replace(/>/g, '›')
    .replace(/&/g, '＆');
}
