// SPDX-License-Identifier: MPL-2.0
import type { ContactView, MountView, QuestionView, SettingView, ShareView, TransferView } from '@keibidrop/peer/local';
import type { ApiError, View } from './api.ts';

/** How the page stands with the daemon. */
export type Link =
  /** It has not answered yet. */
  | { state: 'connecting' }
  /** Everything below is as it is now. */
  | { state: 'live' }
  /** It does not answer, or was stopped; what is below is as it was. Tried again every second. */
  | { state: 'lost'; error: ApiError };

/** Whether somebody has ended it, by `keibidrop stop`: it is not missed, and starts when somebody wants it. */
export function wasStopped(link: Link): boolean {
  return link.state === 'lost' && link.error.code === 'DAEMON_LOST' && link.error.detail?.stopped === true;
}

/** A question with its JSON read. */
export interface Asked extends Omit<QuestionView, 'json'> {
  readonly about: Readonly<Record<string, unknown>>;
}

/** What the daemon has told, as one value. Views take parts of it. */
export interface DaemonState {
  readonly link: Link;
  /** In the order of the queue, as far as it is known; the newest last. */
  readonly transfers: ReadonlyMap<number, TransferView>;
  readonly questions: readonly Asked[];
  readonly contacts: readonly ContactView[];
  readonly shares: readonly ShareView[];
  readonly mounts: readonly MountView[];
  readonly settings: readonly SettingView[];
  /** Fingerprint of the identity that took the place of another; undefined: none did. */
  readonly renewedIdentity: string | undefined;
}

export const NOTHING_TOLD: DaemonState = {
  link: { state: 'connecting' },
  transfers: new Map(),
  questions: [],
  contacts: [],
  shares: [],
  mounts: [],
  settings: [],
  renewedIdentity: undefined,
};

/** Where it is answered: an invitation to a share beside the folders, all others where things are received. */
export function placeOfQuestion({ kind, about }: Pick<Asked, 'kind' | 'about'>): 'mounts' | 'receive' {
  return kind === 'invitation' && about.to === 'share' ? 'mounts' : 'receive';
}

/** How much there is to look at in a view: transfers that go on, questions that wait. */
export function attentionAt(
  view: View,
  { transfers, questions }: Pick<DaemonState, 'transfers' | 'questions'>,
): number {
  if (view === 'transfers') return [...transfers.values()].filter((transfer) => !hasEnded(transfer)).length;
  return questions.filter((asked) => placeOfQuestion(asked) === view).length;
}

/** States in which a transfer does nothing more by itself. */
export function hasEnded({ state }: Pick<TransferView, 'state'>): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}
