// SPDX-License-Identifier: MPL-2.0

import type {
  CodeEvent,
  ConnectedEvent,
  InvitingEvent,
  MappingEvent,
  ProgressEvent,
  RendezvousEvent,
  TransferCounts,
  WaitingEvent,
  WarningEvent,
  WrongCodeEvent,
} from '@keibidrop/peer';
import type { ErrorCode } from '@keibidrop/protocol';

/**
 * All events of a share. `session` numbers its guests from 1, `pull` their pulls; a returning guest keeps its number.
 */
export type ShareEvent =
  | CodeEvent
  | WaitingEvent
  | RendezvousEvent
  | MappingEvent
  | WrongCodeEvent
  | WarningEvent
  | ConnectedEvent
  | InvitingEvent
  | GuestLeftEvent
  | PullEvent
  | PullProgressEvent
  | PulledEvent
  | PullFailedEvent;

/** A guest has left. */
export interface GuestLeftEvent {
  type: 'guestLeft';
  session: number;
  peer: string;
  /** The network failed: the guest may return by itself, and then connects under the same number. */
  mayReturn: boolean;
}

/** A guest begins a pull. */
export interface PullEvent {
  type: 'pull';
  pull: number;
  session: number;
  peer: string;
  /** Paths within the share, at most 20; '' is the whole share. */
  paths: string[];
  /** The number of all requested paths. */
  pathCount: number;
}

/** As in a send. */
export interface PullProgressEvent extends ProgressEvent {
  pull: number;
}

/** A pull has ended, and the guest has all of its files that could be sent. */
export interface PulledEvent extends TransferCounts {
  type: 'pulled';
  pull: number;
  session: number;
  peer: string;
  failed: number;
}

/** A pull has failed. */
export interface PullFailedEvent {
  type: 'pullFailed';
  pull: number;
  session: number;
  peer: string;
  code: ErrorCode;
  message: string;
}
