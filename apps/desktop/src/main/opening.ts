// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Intent } from '../shared/api.ts';

const SCHEME = 'keibidrop:';
const MAX_LINK_LENGTH = 1024;
const CODE = /^[0-9]{1,9}(-[a-z0-9]{1,32}){2,16}$/;
const FINGERPRINT = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/** Flag of a start at login: only the tray appears. */
export const HIDDEN_FLAG = '--hidden';

/** The requests in a start of the program. */
export interface Opening {
  readonly intents: readonly Intent[];
  /** Show only the tray. */
  readonly hidden: boolean;
}

/**
 * Parses a command line: files to send and links.
 *
 * @param args    without the program; options are ignored, because Chromium adds its own
 * @param exists  whether a file exists; missing ones are ignored
 */
export function openingOf(args: readonly string[], cwd: string, exists: (path: string) => boolean): Opening {
  const named = args.filter((arg) => !arg.startsWith('-'));
  const links = named.flatMap((arg) => (arg.toLowerCase().startsWith(SCHEME) ? (intentOfLink(arg) ?? []) : []));
  const paths = named.flatMap((arg) => pathOf(arg, cwd) ?? []).filter(exists);
  const send: Intent[] = paths.length > 0 ? [{ kind: 'send', paths: [...new Set(paths)] }] : [];
  return { intents: [...send, ...links], hidden: args.includes(HIDDEN_FLAG) };
}

/**
 * Parses a `keibidrop://` link: `receive/CODE` or `id/FINGERPRINT`. Undefined for anything else.
 *
 * Any web page can have a link opened, so a link never acts: it fills in a form that the user then sees.
 */
export function intentOfLink(link: string): Intent | undefined {
  if (link.length > MAX_LINK_LENGTH) return undefined;
  const [, what, about = ''] = /^keibidrop:\/\/(receive|id)\/([A-Za-z0-9_-]+)\/?$/i.exec(link.trim()) ?? [];
  const code = about.toLowerCase();
  if (what?.toLowerCase() === 'receive' && CODE.test(code)) return { kind: 'receive', code };
  if (what?.toLowerCase() === 'id' && FINGERPRINT.test(about)) return { kind: 'contact', fingerprint: about };
  return undefined;
}

/** A path as typed or as a file manager gives it; undefined for any other kind of address. */
function pathOf(arg: string, cwd: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(arg)) return resolve(cwd, arg);
  // A Windows drive has one letter, so it does not match as a scheme here.
  if (!arg.startsWith('file://')) return undefined;
  try {
    return fileURLToPath(arg);
  } catch {
    return undefined;
  }
}
