// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Intent } from '../shared/api.ts';

const SCHEME = 'keibidrop:';
const MAX_LINK_LENGTH = 1024;
const CODE = /^[0-9]{1,9}(-[a-z0-9]{1,32}){2,16}$/;
const FINGERPRINT = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/** Started at login: only in the tray. */
export const HIDDEN_FLAG = '--hidden';

/** With what the window was started, or started once more. */
export interface Opening {
  readonly intents: readonly Intent[];
  /** Stay in the tray. */
  readonly hidden: boolean;
}

/**
 * What a command line asks for: files to send, links.
 *
 * @param args    without the program; options, which Chromium mixes its own into, are left out
 * @param exists  whether there is such a file: what is none is no reason to open anything
 */
export function openingOf(args: readonly string[], cwd: string, exists: (path: string) => boolean): Opening {
  const named = args.filter((arg) => !arg.startsWith('-'));
  const links = named.flatMap((arg) => (arg.toLowerCase().startsWith(SCHEME) ? (intentOfLink(arg) ?? []) : []));
  const paths = named.flatMap((arg) => pathOf(arg, cwd) ?? []).filter(exists);
  const send: Intent[] = paths.length > 0 ? [{ kind: 'send', paths: [...new Set(paths)] }] : [];
  return { intents: [...send, ...links], hidden: args.includes(HIDDEN_FLAG) };
}

/**
 * What a `keibidrop://` link asks for: `receive/CODE` or `id/FINGERPRINT`. Undefined for anything else.
 *
 * Any page on the web can have one opened. So it never does anything: it fills in what a person then looks at.
 */
export function intentOfLink(link: string): Intent | undefined {
  if (link.length > MAX_LINK_LENGTH) return undefined;
  const [, what, about = ''] = /^keibidrop:\/\/(receive|id)\/([A-Za-z0-9_-]+)\/?$/i.exec(link.trim()) ?? [];
  const code = about.toLowerCase();
  if (what?.toLowerCase() === 'receive' && CODE.test(code)) return { kind: 'receive', code };
  if (what?.toLowerCase() === 'id' && FINGERPRINT.test(about)) return { kind: 'contact', fingerprint: about };
  return undefined;
}

/** A path as it was typed or as a file manager gives it; undefined for an address of something else. */
function pathOf(arg: string, cwd: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(arg)) return resolve(cwd, arg);
  // A drive of Windows is one letter, so is no scheme here.
  if (!arg.startsWith('file://')) return undefined;
  try {
    return fileURLToPath(arg);
  } catch {
    return undefined;
  }
}
