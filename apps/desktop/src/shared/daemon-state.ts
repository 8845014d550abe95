// SPDX-License-Identifier: MPL-2.0
import type { ContactView, MountView, QuestionView, SettingView, ShareView, TransferView } from '@keibidrop/peer/local';
import type { ApiError } from './api.ts';

/** How the page stands with the daemon. */
export type Link =
  /** It has not answered yet. */
  | { state: 'connecting' }
  /** Everything below is as it is now. */
  | { state: 'live' }
  /** It does not answer; what is below is as it was. Tried again every second. */
  | { state: 'lost'; error: ApiError };

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
}

export const NOTHING_TOLD: DaemonState = {
  link: { state: 'connecting' },
  transfers: new Map(),
  questions: [],
  contacts: [],
  shares: [],
  mounts: [],
  settings: [],
};

/** States in which a transfer does nothing more by itself. */
export function hasEnded({ state }: Pick<TransferView, 'state'>): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}
