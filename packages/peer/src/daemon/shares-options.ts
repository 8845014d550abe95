// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import type { KeibiError, Verdict } from '@keibidrop/protocol';
import type { History } from '../history/history.ts';
import type { SealedPlace } from '../share/sealed-folder.ts';
import type { EventStream } from './event-stream.ts';
import type { Questions } from './questions.ts';
import type { ReadSettings } from './transfer-options.ts';

/** How a share is connected to. */
export interface Connecting {
  ending?: AbortController;
  /** Ends it until it is open. */
  caller?: AbortSignal | undefined;
  /** As ConnectOptions has it. */
  codeGiven: boolean;
}

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
  /** Where the secrets of guests are: those of our shares, and ours of others'. */
  known: { guests: SealedPlace; shares: SealedPlace };
  /** Called with each that is new, or another than before, and with those that have ended. @param error  what ended it */
  onShare(share: local.Share, open: boolean, error?: KeibiError): void;
  /** Called with what went wrong where no client waits for it. */
  onTrouble(error: KeibiError): void;
}
