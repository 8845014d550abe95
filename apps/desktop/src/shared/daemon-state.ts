// SPDX-License-Identifier: MPL-2.0
import type {
  ContactView,
  MountView,
  QuestionView,
  SettingView,
  ShareView,
  TransferView,
} from '@keibidrop/daemon/local';
import type { ApiError, View } from './api.ts';

/** Connection between the page and the daemon. */
export type Link =
  /** The daemon has not answered yet. */
  | { state: 'connecting' }
  /** The rest of the state is current. */
  | { state: 'live' }
  /** The daemon does not answer or was stopped; the rest of the state is the last known. Retried every second. */
  | { state: 'lost'; error: ApiError };

/** Whether the user has ended the daemon with `keibidrop stop`: then it starts again only on request. */
export function wasStopped(link: Link): boolean {
  return link.state === 'lost' && link.error.code === 'DAEMON_LOST' && link.error.detail?.stopped === true;
}

/** A question with its fields by name. */
export interface Asked extends Omit<QuestionView, 'about'> {
  /** offer, invitation, collision */
  readonly kind: string;
  readonly about: Readonly<Record<string, unknown>>;
}

/** The daemon's state as one value. Views select parts of it. */
export interface DaemonState {
  readonly link: Link;
  /** In queue order as far as known; the newest last. */
  readonly transfers: ReadonlyMap<number, TransferView>;
  readonly questions: readonly Asked[];
  readonly contacts: readonly ContactView[];
  readonly shares: readonly ShareView[];
  readonly mounts: readonly MountView[];
  readonly settings: readonly SettingView[];
  /** Fingerprint of the own identity that replaced an older one; undefined: no replacement was reported. */
  readonly renewedIdentity: string | undefined;
}

export const NOTHING_REPORTED: DaemonState = {
  link: { state: 'connecting' },
  transfers: new Map(),
  questions: [],
  contacts: [],
  shares: [],
  mounts: [],
  settings: [],
  renewedIdentity: undefined,
};

/** View that shows the question: invitations to a share in the folders view, all others in the receive view. */
export function placeOfQuestion({ kind, about }: Pick<Asked, 'kind' | 'about'>): 'mounts' | 'receive' {
  return kind === 'invitation' && about.to === 'share' ? 'mounts' : 'receive';
}

/** Number on a view's badge: unfinished transfers or pending questions. */
export function attentionAt(
  view: View,
  { transfers, questions }: Pick<DaemonState, 'transfers' | 'questions'>,
): number {
  if (view === 'transfers') return [...transfers.values()].filter((transfer) => !hasEnded(transfer)).length;
  return questions.filter((asked) => placeOfQuestion(asked) === view).length;
}

/** States that a transfer leaves only on request. */
export function hasEnded({ state }: Pick<TransferView, 'state'>): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}
