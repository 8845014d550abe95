// SPDX-License-Identifier: MPL-2.0
import { parseCode } from '@keibidrop/daemon/local';

const LINK = /keibidrop:\/\/receive\/([^/?#\s]+)/i;
const COMMAND = /\bkeibidrop\s+receive\s+(\S+)/i;
/** A whole code among other words. Each of its words contains a letter, so that a date does not match. */
const AMONG = /(?<![\w-])\d{1,9}(?:-(?=\d*[a-z])[a-z\d]{1,32}){2,16}(?![\w-])/i;
/** Characters that programs write instead of a hyphen, and invisible ones. */
const HYPHENS = /[\u2010-\u2015\u2212]/g;
const UNSEEN = /\u00ad|[\u200b-\u200d]|\u2060|\ufeff/g;
const MAX_TYPED = 200;

/**
 * Normalizes typed text to a code. Takes the code out of a link, a receive command or other text.
 * Any other text is kept, with hyphens for spaces.
 */
export function spelled(text: string): string {
  const typed = plain(text).replace(/^\s+/, '');
  // Text that begins with a number may be a code still being typed.
  const inside = led(typed) ?? (/^\d/.test(typed) ? undefined : AMONG.exec(typed)?.[0]) ?? COMMAND.exec(typed)?.[1];
  return (inside ?? typed)
    .toLowerCase()
    .replace(/\s*-\s*|\s+/g, '-')
    .slice(0, MAX_TYPED);
}

/** The code in a text, whatever surrounds it; undefined if there is none. */
export function codeIn(text: string): string | undefined {
  const whole = plain(text);
  const found = led(whole) ?? AMONG.exec(whole)?.[0] ?? COMMAND.exec(whole)?.[1];
  try {
    return parseCode((found ?? whole).replace(/[\s-]+$/, '')).text;
  } catch {
    return undefined;
  }
}

function led(text: string): string | undefined {
  return LINK.exec(text)?.[1];
}

function plain(text: string): string {
  return text.replace(UNSEEN, '').replace(HYPHENS, '-');
}
