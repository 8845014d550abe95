// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import type { KeibiError, Verdict } from '@keibidrop/protocol';
import type { SealedPlace } from '@keibidrop/settings';
import type { EventStream } from '../event-stream.ts';
import type { History } from '../history/history.ts';
import type { Prompts } from '../prompts.ts';
import type { ReadSettings } from '../transfers/transfer-options.ts';

/** How to connect to a share. */
export interface Connecting {
  ending?: AbortController;
  /** Aborts the attempt until the share is open. */
  caller?: AbortSignal | undefined;
  /** As in ConnectOptions. */
  codeGiven: boolean;
}

/** The dependencies of a daemon's shares. */
export interface SharesOptions {
  read: ReadSettings;
  /** Invites a contact as soon as it is online. @returns  its answer */
  invite(name: string, about: { code: string; label: string }, options: { signal: AbortSignal }): Promise<Verdict>;
  events: EventStream;
  questions: Prompts;
  history: Pick<History, 'add'>;
  /** The journal of shares. */
  file: string;
  /** As in ShareOptions. */
  journals: string;
  /** The files with guest secrets: those of our guests, and ours as a guest. */
  known: { guests: SealedPlace; shares: SealedPlace };
  /** Called for each new, changed or ended share. @param error  the reason of its end */
  onShare(share: local.Share, open: boolean, error?: KeibiError): void;
  /** Reports an error that no client waits for. */
  onTrouble(error: KeibiError): void;
}
