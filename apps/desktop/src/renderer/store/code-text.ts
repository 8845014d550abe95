// SPDX-License-Identifier: MPL-2.0
import { parseCode } from '@keibidrop/peer/local';

const LINK = /^keibidrop:\/\/receive\/([^/?#]+)\/?$/i;
const COMMAND = /^keibidrop\s+receive\s+(\S+)$/i;

/** The link that a QR code of a code holds. */
export function codeLink(code: string): string {
  return `keibidrop://receive/${code}`;
}

/** What was pasted, as a code is spelled: a link and a command to receive with give theirs. What is neither stays, but for its spaces. */
export function spelled(text: string): string {
  const trimmed = text.trim();
  const [, inside] = LINK.exec(trimmed) ?? COMMAND.exec(trimmed) ?? [];
  return (inside ?? text)
    .toLowerCase()
    .replace(/^\s+/, '')
    .replace(/\s*-\s*|\s+/g, '-')
    .slice(0, 200);
}

/** Whether it can be one. */
export function isCode(text: string): boolean {
  try {
    parseCode(text);
    return true;
  } catch {
    return false;
  }
}
