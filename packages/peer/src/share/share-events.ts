// SPDX-License-Identifier: MPL-2.0
import type { ErrorCode } from '@keibidrop/protocol';
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
} from '../events.ts';

/** Everything a share tells while it is there. `session` counts its guests from 1, `pull` what they take; one that comes back keeps its number. */
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

/** A guest is not there any more. */
export interface GuestLeftEvent {
  type: 'guestLeft';
  session: number;
  peer: string;
  /** It was the network: the guest may come back by itself, and is then told as connected under the same number. */
  mayReturn: boolean;
}

/** A guest takes something. */
export interface PullEvent {
  type: 'pull';
  pull: number;
  session: number;
  peer: string;
  /** Paths within the share, at most 20; '' is all of it. */
  paths: string[];
  /** How many there are in all. */
  pathCount: number;
}

/** As in a send. */
export interface PullProgressEvent extends ProgressEvent {
  pull: number;
}

/** A guest has everything that it will get of a pull. */
export interface PulledEvent extends TransferCounts {
  type: 'pulled';
  pull: number;
  session: number;
  peer: string;
  failed: number;
}

/** A pull has ended otherwise. */
export interface PullFailedEvent {
  type: 'pullFailed';
  pull: number;
  session: number;
  peer: string;
  code: ErrorCode;
  message: string;
}
