// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { fieldsIn, isId } from '../journal.ts';

/** Identifies a share that we have met before: the number of its code, and the name of our guest secret for it. */
export interface MetShare {
  nameplate: string;
  name: string;
}

/** The part of a share that outlives the daemon. `code` is the drawn code. */
export type ShareEntry = (
  | { kind: 'own'; request: local.AddShareRequest }
  | { kind: 'guest'; request: local.ConnectRequest; met?: MetShare }
) & {
  id: number;
  added: number;
  name: string;
  /** For an own share: the code of each invited contact, and whether it has answered. */
  invited?: Record<string, { code: string; answered: boolean }>;
};

/** The part of an entry that is stored: without a code that is no longer needed. */
export function keptEntry(entry: ShareEntry): ShareEntry {
  if (entry.kind === 'own' || entry.met === undefined) return entry;
  return { ...entry, request: { ...entry.request, code: '' } };
}

/** The code that names the mailbox of an entry; without words if only its number is stored. @throws CODE_MALFORMED */
export function codeOf({ request, met }: ShareEntry & { kind: 'guest' }): Code {
  if (request.code !== '') return parseCode(request.code);
  if (met === undefined) throw new KeibiError('CODE_MALFORMED');
  return { nameplate: met.nameplate, words: [], text: '' };
}

/** Whether a value from the journal is a valid share entry. */
export function isShareEntry(value: unknown): boolean {
  const { id, added, name, kind, request, met } = fieldsIn(value);
  const { path, code } = fieldsIn(request);
  if (!isId(id) || typeof added !== 'number' || typeof name !== 'string') return false;
  if (kind === 'own') return typeof path === 'string';
  return kind === 'guest' && typeof code === 'string' && (met === undefined ? code !== '' : isMet(met));
}

function isMet(value: unknown): boolean {
  const { nameplate, name } = fieldsIn(value);
  const numbered = typeof nameplate === 'string' && /^[0-9]{1,9}$/.test(nameplate);
  return numbered && typeof name === 'string' && /^[0-9a-f]{32}$/.test(name);
}
