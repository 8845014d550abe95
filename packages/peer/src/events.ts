// SPDX-License-Identifier: MPL-2.0
import type { ErrorCode, Suite } from '@keibidrop/protocol';

/** How two peers reach each other, best first. */
export type PathName = 'local' | 'lan' | 'direct' | 'mapped' | 'punched' | 'relay';

/** One entry that failed to arrive or to be read, and why. `path` is relative, with `/`, as the sending peer named it. */
export interface FailedEntry {
  path: string;
  code: ErrorCode;
  /** A sentence for people, without the path. */
  message: string;
}

/** The counts of a transfer that ran to its end. */
export interface TransferCounts {
  /** Files that this run completed at the receiver; directories and symlinks are not counted. */
  files: number;
  /** Bytes of those files, including those from an earlier run. */
  bytes: number;
  /** Skipped files: already up to date, or a collision answered with "skip". */
  skipped: number;
  /** The part of `bytes` that an earlier run had received. */
  resumedBytes: number;
  /** From the start of the session until everything has its final name. */
  seconds: number;
}

/**
 * All events of a peer at work: one tagged union for the command line and the desktop.
 *
 * The command line writes each as one `--json` line. `type` becomes `event`, and the other fields stay as they are
 * (docs/cli.md), with these exceptions:
 *
 * - `file` only with --verbose;
 * - `offer` and `progress` keep the fields of docs/cli.md and may carry more;
 * - `done` only when `failed` is 0, since otherwise the run ends with an `error` line, which the command line writes from the
 *   result or the thrown KeibiError.
 */
export type PeerEvent =
  | CodeEvent
  | InvitingEvent
  | WaitingEvent
  | RendezvousEvent
  | MappingEvent
  | LookingEvent
  | ConnectedEvent
  | ReconnectingEvent
  | AcceptedEvent
  | PausedEvent
  | OfferEvent
  | ProgressEvent
  | FileEvent
  | FailedEvent
  | TextEvent
  | WarningEvent
  | SavedEvent
  | WrongCodeEvent
  | ReceiverLostEvent
  | ReceiverDoneEvent
  | DoneEvent;

/** Fields of the events of a transfer with a contact. */
export interface OfContact {
  /** The name under which it is saved here, not the one it claims. */
  contact?: string;
}

/** The sender has a code to share. Emitted once. */
export interface CodeEvent {
  type: 'code';
  code: string;
}

/** The state of one contact's invitation: not online yet, delivered, its user is asked, or accepted. */
export interface InvitingEvent extends OfContact {
  type: 'inviting';
  contact: string;
  state: 'absent' | 'invited' | 'asked' | 'taken';
}

/** The sender listens and can be met. Emitted once, after `code`. */
export interface WaitingEvent {
  type: 'waiting';
  host: string;
  port: number;
}

/**
 * The public rendezvous, after `waiting`: `open` when receivers can find this sender there, `lost` while it is unreachable and
 * retried.
 */
export interface RendezvousEvent {
  type: 'rendezvous';
  state: 'open' | 'lost';
  /** `HOST:PORT` */
  address: string;
  /** With `open`: it relays too. */
  relay?: boolean;
  /** With `lost`: why, a sentence. */
  message?: string;
}

/** The router's reply to a request for a port mapping, after `waiting` and on change. */
export interface MappingEvent {
  type: 'mapping';
  state: 'open' | 'failed';
  /** With `open`: `HOST:PORT` outside. */
  address?: string;
  /** With `open`: the protocol used to ask the router. */
  by?: string;
  /** With `failed`: why, a sentence. */
  message?: string;
}

/** The receiver still searches its networks for the sender. Emitted at most once. */
export interface LookingEvent {
  type: 'looking';
}

/**
 * A session has started. `session` counts the peers of one send or receive from 1. A lost peer that returns keeps its number
 * and is reported as connected again, as is one whose lanes have moved to a better path.
 */
export interface ConnectedEvent extends OfContact {
  type: 'connected';
  path: PathName;
  suite: Suite;
  /** The peer's display name: its own claim, so sanitize it before display. */
  peer: string;
  /** For a contact: whether its fingerprint was compared. */
  verified?: boolean;
  session: number;
  /** At the receiver: the paths that failed before this session, in order of failure. */
  tried?: readonly TriedWay[];
}

/** The receiver has lost its session and tries another in `nextInMs`. `attempt` counts from 1 since the loss. */
export interface ReconnectingEvent {
  type: 'reconnecting';
  /** Why the session was lost: a sentence. */
  reason: string;
  attempt: number;
  nextInMs: number;
}

/** A receiver has accepted the offer, so its bytes may move. Not part of `--json`. */
export interface AcceptedEvent extends OfContact {
  type: 'accepted';
  session: number;
}

/** The transfer was paused or resumed, by this side for all its peers, or by one peer. */
export interface PausedEvent extends OfContact {
  type: 'paused';
  paused: boolean;
  by: 'self' | 'peer';
  /** The peer's session. */
  session?: number;
}

/** One path to the peer that failed, and why. */
export interface TriedWay {
  /** The kind of path: `local`, `lan`, `direct`, `mapped`, `punched`, `relay`. */
  transport: string;
  /** `HOST:PORT` */
  address: string;
  code: ErrorCode;
  /** A text for people: the system's error message if there is one. */
  reason: string;
}

/** The whole offer is known: at the receiver before it is asked, at the sender when the walk has ended. */
export interface OfferEvent extends OfContact {
  type: 'offer';
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  /**
   * At the receiver: the top-level names, at most 20, and their total number. They are the peer's text: sanitize them before
   * display.
   */
  names?: readonly string[];
  nameCount?: number;
  /** At the sender: names that the selection leaves out; a folder counts as one. */
  leftOut?: number;
}

/** Progress of one session, at most ten times a second and once at its end. Counts the bytes on the receiver's disk. */
export interface ProgressEvent extends OfContact {
  type: 'progress';
  session: number;
  files: number;
  bytes: number;
  totalFiles: number;
  totalBytes: number;
  /** False while the sender still walks, and always for standard input: the totals grow, so there is no ETA. */
  totalsFinal: boolean;
  /** Over the last few seconds, not since the start. */
  bytesPerSecond: number;
  /** At the receiver: the part of `bytes` from an earlier run. */
  resumedBytes?: number;
  /** The file being moved; absent before the first. A path of the sending peer: sanitize it before display. */
  file?: string;
}

/** One file is complete. Emitted only with `verbose`. */
export interface FileEvent extends OfContact {
  type: 'file';
  path: string;
  session: number;
}

/** One entry failed; the others continue. */
export interface FailedEvent extends FailedEntry, OfContact {
  type: 'failed';
  session: number;
}

/** A text arrived instead of files. */
export interface TextEvent {
  type: 'text';
  text: string;
}

/** A note for the user that stops nothing: a file saved under another name, a slower path taken. */
export interface WarningEvent {
  type: 'warning';
  message: string;
  path?: string;
  /** For names that a send cannot carry: their number, and the first of them, escaped. */
  count?: number;
  names?: readonly string[];
}

/** The other side of a session by code is now a contact, or already was one. */
export interface SavedEvent {
  type: 'saved';
  contact: string;
  fingerprint: string;
}

/** A guest used a wrong code at this sender. `remaining` guesses are left before the offer ends. */
export interface WrongCodeEvent {
  type: 'wrongCode';
  remaining: number;
}

/** A session of this sender ended before its transfer did; the sender keeps waiting if it may. */
export interface ReceiverLostEvent extends OfContact {
  type: 'receiverLost';
  /** The network failed: the receiver may return by itself, and is then reported as connected under the same number. */
  mayReturn: boolean;
  session: number;
  peer: string;
  code: ErrorCode;
  message: string;
}

/** One receiver of this sender has received everything it will get. */
export interface ReceiverDoneEvent extends TransferCounts, OfContact {
  type: 'receiverDone';
  session: number;
  peer: string;
  failed: number;
}

/**
 * The last event of a send or receive that ran to its end, with the numbers of its result. A sender's are the sums over its
 * receivers.
 */
export interface DoneEvent extends TransferCounts {
  type: 'done';
  /** The number of failed entries; the result lists them. */
  failed: number;
}
