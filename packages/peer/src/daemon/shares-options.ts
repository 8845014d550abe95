// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import type { KeibiError, Verdict } from '@keibidrop/protocol';
import type { History } from '../history/history.ts';
import type { EventStream } from './event-stream.ts';
import { fieldsIn, isId } from './journal.ts';
import type { Questions } from './questions.ts';
import type { ReadSettings } from './transfer-options.ts';

/** What the shares of a daemon work with. */
export interface SharesOptions {
  read: ReadSettings;
  /** Invites a contact as soon as it is there. @returns  what it has answered */
  invite(name: string, about: { code: string; label: string }, options: { signal: AbortSignal }): Promise<Verdict>;
  events: EventStream;
  questions: Questions;
  history: Pick<History, 'add'>;
  /** Where they are kept. */
  file: string;
  /** As ShareOptions has it. */
  journals: string;
  /** Called with each that is new, or another than before, and with those that have ended. */
  onShare(share: local.Share, open: boolean): void;
  /** Called with what went wrong where no client waits for it. */
  onTrouble(error: KeibiError): void;
}

/** Whether a value from the journal of shares can be taken up. */
export function isShareEntry(value: unknown): boolean {
  const { id, added, name, kind, request } = fieldsIn(value);
  const { path, code } = fieldsIn(request);
  if (!isId(id) || typeof added !== 'number' || typeof name !== 'string') return false;
  return kind === 'own' ? typeof path === 'string' : kind === 'guest' && typeof code === 'string';
}
