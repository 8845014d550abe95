// SPDX-License-Identifier: MPL-2.0
import type { RequestOf } from '@keibidrop/daemon/local';
import { create } from 'zustand';
import { type ReachChoice, reachOf, savedAs } from './send-options.ts';

export const COLLISIONS = ['rename', 'ask', 'overwrite', 'skip'] as const;

export interface ReceiveOptions extends ReachChoice {
  /** Absolute; empty: the daemon's default. */
  readonly out: string;
  readonly collisions: (typeof COLLISIONS)[number];
  readonly verify: boolean;
  readonly incognito: boolean;
  /** Name to save the next sender under; empty: do not save. */
  readonly save: string;
}

/** Kept while the page is open: several receives usually go to the same place. */
export const useReceiveOptions = create<ReceiveOptions>()(() => ({
  out: '',
  collisions: 'rename',
  verify: false,
  incognito: false,
  save: '',
  way: 'any',
  limit: '',
}));

export function receiveRequestOf(code: string, options: ReceiveOptions): Partial<RequestOf<'receive'>> {
  const { out, collisions, verify, incognito } = options;
  const save = savedAs(options);
  return {
    code,
    collisions,
    verify,
    incognito,
    reach: reachOf(options),
    ...(out !== '' && { out }),
    ...(save !== undefined && { save }),
  };
}
