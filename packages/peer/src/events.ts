// SPDX-License-Identifier: MPL-2.0
import type { ErrorCode, Suite } from '@keibidrop/protocol';

/** How two peers reach each other, best first. */
export type PathName = 'local' | 'lan' | 'direct' | 'mapped' | 'punched' | 'relay';

/** One entry that did not arrive, or was not read, and why. `path` is relative, with `/`, as the sending peer named it. */
export interface FailedEntry {
  path: string;
  code: ErrorCode;
  /** A sentence for people, without the path. */
  message: string;
}

/** The counts of a transfer that ran to its end. */
export interface TransferCounts {
  /** Files that stand complete at the receiver because of this run; directories and symlinks are not counted. */
  files: number;
  /** Bytes of those files, what an earlier run had already brought included. */
  bytes: number;
  /** Files left alone: up to date already, or a collision answered with "skip". */
  skipped: number;
  /** Bytes of `bytes` that were there from an earlier run and not sent again. */
  resumedBytes: number;
  /** From the session being up until everything stands under its final name. */
  seconds: number;
}

/**
 * Everything a peer tells while it works: one tagged union for the command line and the desktop.
 *
 * The command line writes each as one `--json` line, `type` becoming `event` and the other fields staying as they are (docs/cli.md), except:
 * `file` only with --verbose; `offer` and `progress` keep the fields of docs/cli.md and may carry more; `done` only when `failed` is 0, since
 * otherwise the run ends with an `error` line, which the command line writes from the result or the thrown KeibiError.
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

/** What belongs to a transfer with a contact says so. */
export interface OfContact {
  /** As it is saved here, not as it calls itself. */
  contact?: string;
}

/** The sender has a code to give away. Once. */
export interface CodeEvent {
  type: 'code';
  code: string;
}

/** How far the invitation of one contact is: it is not there yet, it was told, somebody there is asked, it was accepted. */
export interface InvitingEvent extends OfContact {
  type: 'inviting';
  contact: string;
  state: 'absent' | 'told' | 'asked' | 'taken';
}

/** The sender listens and can be met. Once, after `code`. */
export interface WaitingEvent {
  type: 'waiting';
  host: string;
  port: number;
}

/** The public rendezvous, after `waiting`: `open` when receivers can find this sender there, `lost` while they cannot and it is tried again. */
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

/** What the sender's router says to being asked for a port that leads here, after `waiting` and when that changes. */
export interface MappingEvent {
  type: 'mapping';
  state: 'open' | 'failed';
  /** With `open`: `HOST:PORT` outside. */
  address?: string;
  /** With `open`: how the router was asked. */
  by?: string;
  /** With `failed`: why, a sentence. */
  message?: string;
}

/** The receiver searches its networks for the sender, and has not found it yet. At most once. */
export interface LookingEvent {
  type: 'looking';
}

/**
 * A session is up. `session` counts the peers of one send or receive from 1: one that was lost and comes back keeps its number, and is told
 * as connected once more; so is one whose lanes have moved to a better path.
 */
export interface ConnectedEvent extends OfContact {
  type: 'connected';
  path: PathName;
  suite: Suite;
  /** What the peer calls itself: a claim of the peer's, to be made harmless before it is shown. */
  peer: string;
  /** Of a contact: whether its fingerprint was compared. */
  verified?: boolean;
  session: number;
  /** At the receiver: the ways that were tried and did not lead to this session, in the order they failed. */
  tried?: readonly TriedWay[];
}

/** The receiver has lost its session and is about to try for another, in `nextInMs`. `attempt` counts from 1 since the loss. */
export interface ReconnectingEvent {
  type: 'reconnecting';
  /** Why the session was lost: a sentence. */
  reason: string;
  attempt: number;
  nextInMs: number;
}

/** A receiver has said yes to the offer of this sender: its bytes may move. Not part of `--json`. */
export interface AcceptedEvent extends OfContact {
  type: 'accepted';
  session: number;
}

/** Somebody holds the transfer, or lets it go on: this side with all its peers, or one peer. */
export interface PausedEvent extends OfContact {
  type: 'paused';
  paused: boolean;
  by: 'self' | 'peer';
  /** Of the peer. */
  session?: number;
}

/** One way to the peer that was not taken, and why. */
export interface TriedWay {
  /** What kind of way it is: `local`, `lan`, `direct`, `mapped`, `punched`, `relay`. */
  transport: string;
  /** `HOST:PORT` */
  address: string;
  code: ErrorCode;
  /** For people: the system's own words where it has any. */
  reason: string;
}

/** The whole offer is known: at the receiver before it is asked, at the sender when the walk has ended. */
export interface OfferEvent extends OfContact {
  type: 'offer';
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  /** At the receiver: the top-level names, at most 20, and how many there are in all. The peer's words, to be made harmless. */
  names?: readonly string[];
  nameCount?: number;
}

/** How far one session is, at most ten times a second and once at its end. Counts what stands on the receiver's disk. */
export interface ProgressEvent extends OfContact {
  type: 'progress';
  session: number;
  files: number;
  bytes: number;
  totalFiles: number;
  totalBytes: number;
  /** False while the sender still walks: the totals grow, so there is no ETA. */
  totalsFinal: boolean;
  /** Over the last few seconds, not since the start. */
  bytesPerSecond: number;
  /** At the receiver: part of `bytes` that was there from an earlier run. */
  resumedBytes?: number;
}

/** One file is complete. Only emitted if `verbose` is asked for. */
export interface FileEvent extends OfContact {
  type: 'file';
  path: string;
  session: number;
}

/** One entry failed; the others go on. */
export interface FailedEvent extends FailedEntry, OfContact {
  type: 'failed';
  session: number;
}

/** A text came instead of files. */
export interface TextEvent {
  type: 'text';
  text: string;
}

/** Something a person should know that stops nothing: a file that is kept under another name, a slower path taken. */
export interface WarningEvent {
  type: 'warning';
  message: string;
  path?: string;
  /** For names that a send cannot carry: their number, and the first of them, escaped. */
  count?: number;
  names?: readonly string[];
}

/** The other side of a session by code is a contact now, or was one and stays it. */
export interface SavedEvent {
  type: 'saved';
  contact: string;
  fingerprint: string;
}

/** Somebody tried a wrong code at this sender. `remaining` guesses are left before the offer ends. */
export interface WrongCodeEvent {
  type: 'wrongCode';
  remaining: number;
}

/** A session of this sender ended before its transfer did; the sender goes on waiting if it may. */
export interface ReceiverLostEvent extends OfContact {
  type: 'receiverLost';
  /** It was the network: the receiver may come back by itself, and is then told as connected under the same number. */
  mayReturn: boolean;
  session: number;
  peer: string;
  code: ErrorCode;
  message: string;
}

/** One receiver of this sender has everything it will get. */
export interface ReceiverDoneEvent extends TransferCounts, OfContact {
  type: 'receiverDone';
  session: number;
  peer: string;
  failed: number;
}

/** The last event of a send or receive that ran to its end; the numbers of its result. A sender's are the sums over its receivers. */
export interface DoneEvent extends TransferCounts {
  type: 'done';
  /** How many entries did not make it; the result lists them. */
  failed: number;
}
