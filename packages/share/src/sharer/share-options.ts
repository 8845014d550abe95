// SPDX-License-Identifier: MPL-2.0
import type { SendOptions, TransferOptions } from '@keibidrop/peer';
import type { SealedPlace } from '@keibidrop/settings';
import type { ShareEvent } from '../share-events.ts';

export interface ShareOptions
  extends Pick<TransferOptions, 'suite' | 'limitBytesPerSecond' | 'reach' | 'label' | 'signal'>,
    Pick<SendOptions, 'code' | 'wordCount' | 'insecureCode' | 'listen'> {
  /** The folder, or one file; absolute. */
  dir: string;
  /** Guests cannot change anything. */
  readOnly: boolean;
  /** The folder for journals of unfinished guest writes, which survive a kill; absent: none. */
  journals?: string | undefined;
  /** Where the secrets of known guests are stored; absent: in memory, until the share ends. */
  guests?: SealedPlace | undefined;
  /** Called in order, on the event loop, never after the promise has settled. Must not throw. */
  onEvent(event: ShareEvent): void;
}
