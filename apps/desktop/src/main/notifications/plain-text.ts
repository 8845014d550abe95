// SPDX-License-Identifier: MPL-2.0

/** Control characters, characters that change text direction or are invisible, line separators, lone surrogates. */
const UNSAFE =
  /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;
const MAX_LENGTH = 60;

/** A peer's words on one line, shortened, without characters that affect the rest of the display. */
export function plainText(text: string, longest = MAX_LENGTH): string {
  const letters = [...text.replace(UNSAFE, '\u{fffd}')];
  return letters.length <= longest ? letters.join('') : `${letters.slice(0, longest - 1).join('')}…`;
}

/** For a menu, where & underlines the next letter. */
export function menuText(text: string): string {
  return plainText(text).replace(/&/g, '&&');
}

/** For a notification: some Linux desktops read `<` and `&` as markup, others show the escaped form, so similar letters replace them. */
export function noticeText(text: string): string {
  return plainText(text, 2 * MAX_LENGTH)
    .replace(/</g, '‹')
    .replace(/>/g, '›')
    .replace(/&/g, '＆');
}
