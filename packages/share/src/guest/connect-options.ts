// SPDX-License-Identifier: MPL-2.0
import type { ConnectedEvent, LookingEvent, MeetOptions, ReceiveOptions, ReconnectingEvent } from '@keibidrop/peer';
import type { KeibiError } from '@keibidrop/protocol';
import type { ShareMemory } from './known-shares.ts';

export interface ConnectOptions extends Omit<MeetOptions, 'near' | 'onEvent' | 'known'> {
  /** This peer's own name. */
  label: string;
  /** Stores the secret of this guest; absent: in memory. Closed with the guest. */
  memory?: ShareMemory;
  /** False: no person has just entered the code, as in MeetShareOptions. */
  codeGiven?: boolean;
  /** The share was met before by a secret that `memory` keeps. */
  met?: boolean;
  /** Called when the code is used once more (SHARE_FORGOTTEN), and when a secret cannot be kept. */
  onTrouble?(error: KeibiError): void;
  /** Called in order, on the event loop, never after `closed` has settled. Must not throw. */
  onEvent(event: ConnectedEvent | ReconnectingEvent | LookingEvent): void;
}

/** The options of a pull that the session does not provide. */
export type PullOptions = Omit<ReceiveOptions, 'code' | 'connect' | 'near' | 'reach' | 'suite' | 'label'>;
