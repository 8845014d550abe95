// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { fieldsIn, isId } from './journal.ts';

/** By which a share is met that has been met before: the number of its code, and the name of this guest's secret of it. */
export interface MetShare {
  nameplate: string;
  name: string;
}

/** What of a share outlives the daemon. `code` is the one that was drawn. */
export type ShareEntry = (
  | { kind: 'own'; request: local.AddShareRequest }
  | { kind: 'guest'; request: local.ConnectRequest; met?: MetShare }
) & {
  id: number;
  added: number;
  name: string;
  /** Of an own one: the code of each contact that was invited, and whether it has answered. */
  invited?: Record<string, { code: string; answered: boolean }>;
};

/** What of an entry goes to the disk: no code that is not needed there any more. */
export function keptEntry(entry: ShareEntry): ShareEntry {
  if (entry.kind === 'own' || entry.met === undefined) return entry;
  return { ...entry, request: { ...entry.request, code: '' } };
}

/** How the mailbox of an entry is named; without words if only its number is kept. @throws CODE_MALFORMED */
export function codeOf({ request, met }: ShareEntry & { kind: 'guest' }): Code {
  if (request.code !== '') return parseCode(request.code);
  if (met === undefined) throw new KeibiError('CODE_MALFORMED');
  return { nameplate: met.nameplate, words: [], text: '' };
}

/** Whether a value from the journal of shares can be taken up. */
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
