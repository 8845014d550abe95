// SPDX-License-Identifier: MPL-2.0
import { parseCode } from '@keibidrop/peer/local';

const LINK = /keibidrop:\/\/receive\/([^/?#\s]+)/i;
const COMMAND = /\bkeibidrop\s+receive\s+(\S+)/i;
/** A whole code among other words: each of its own has a letter, so that a date is none. */
const AMONG = /(?<![\w-])\d{1,9}(?:-(?=\d*[a-z])[a-z\d]{1,32}){2,16}(?![\w-])/i;
/** What programs write instead of a hyphen, and what nobody sees. */
const HYPHENS = /[\u2010-\u2015\u2212]/g;
const UNSEEN = /\u00ad|[\u200b-\u200d]|\u2060|\ufeff/g;
const MAX_TYPED = 200;

/** The link that a QR code of a code holds. */
export function codeLink(code: string): string {
  return `keibidrop://receive/${code}`;
}

/** What is typed, as a code is spelled: a link, a command to receive with, and a code after other words give theirs. What is none of them stays, but for its spaces. */
export function spelled(text: string): string {
  const typed = plain(text).replace(/^\s+/, '');
  // What begins with a number may be a code that goes on.
  const inside = led(typed) ?? (/^\d/.test(typed) ? undefined : AMONG.exec(typed)?.[0]) ?? COMMAND.exec(typed)?.[1];
  return (inside ?? typed)
    .toLowerCase()
    .replace(/\s*-\s*|\s+/g, '-')
    .slice(0, MAX_TYPED);
}

/** The code that a text is or holds, whatever stands around it; undefined: none. */
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
