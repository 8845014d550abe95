// SPDX-License-Identifier: MPL-2.0
import type { Discovery, HostPort } from '@keibidrop/discovery';
import type { Code, Suite } from '@keibidrop/protocol';
import type { EntryLog } from '@keibidrop/transfer';
import type { SaveOptions } from './contacts/saving.ts';
import type { FailedEntry, PathName, PeerEvent, TransferCounts } from './events.ts';
import type { PauseSwitch } from './pause-switch.ts';

/** Where a sender listens. */
export interface ListenAddress extends HostPort {
  /** True if any free port will do when `port` is taken; false: the port was asked for by name, so a taken one is an error (CONFIG_INVALID). */
  orAnyPort: boolean;
}

/** How peers may be found and reached. */
export interface ReachOptions {
  /** `HOST:PORT` or a URL of a public rendezvous. Absent: only the one each sender embeds. */
  rendezvous?: string | undefined;
  /** Which networks are searched for peers: all, none, or the one interface named. */
  discovery: Discovery;
  /** Never use a relay. */
  directOnly: boolean;
  /** Use nothing but the relay of `rendezvous`, which must then be named: no address is told, none but the relay's is dialled. */
  relayOnly: boolean;
}

/** What both sides of a transfer can be told. */
export interface TransferOptions {
  /** Forces one suite; absent: both sides compute the choice (PROTOCOL 3). */
  suite?: Suite | undefined;
  /** Upper bound of what this side's lanes carry, to or from all peers together; absent: none. */
  limitBytesPerSecond?: number | undefined;
  reach: ReachOptions;
  /** What this peer calls itself, at most MAX_LABEL_BYTES of UTF-8. */
  label: string;
  /** Keeps the other side as a contact, if it asks for the same; absent: nobody learns who this is. Of a sender: with `receivers: 1`. */
  save?: SaveOptions | undefined;
  /** Holds everything that this side sends or receives; absent: nobody can. */
  pausing?: PauseSwitch | undefined;
  /** Emit a `file` event for each file. */
  verbose?: boolean | undefined;
  /** Says where each session, by its number as in events, notes what it consists of; called again for one that comes back. Absent: nobody looks. */
  entriesOf?: ((session: number) => EntryLog) | undefined;
  /** Ends the transfer; the promise then rejects with `signal.reason`. */
  signal: AbortSignal;
  /** Called in order, on the event loop, never after the promise has settled. Must not throw. */
  onEvent(event: PeerEvent): void;
}

/** Exactly one of `paths` (not empty), `stdin` and `text` says what is offered. */
export interface SendOptions extends TransferOptions {
  paths: string[];
  /** Folders that `paths` may not leave when they are read, also through a symlink that comes later; absent: anything may be sent. */
  beneath?: readonly string[] | undefined;
  /** Offer standard input as one file of unknown size. */
  stdin?: boolean | undefined;
  text?: string | undefined;
  /** The code to use; absent: a new one of `wordCount` words. */
  code?: Code | undefined;
  /** Words of a new code, 2 to 16; 2 if absent. */
  wordCount?: number | undefined;
  /** Skips assertCodeStrength for `code`. */
  insecureCode?: boolean | undefined;
  listen: ListenAddress;
  /** Ends after this many receivers have been served; 0: goes on until `signal`. */
  receivers: number;
}

/** False declines an offer. `out` is the destination instead of the one that was meant: absolute, created if missing. */
export type OfferAnswer = boolean | { out: string };

/** What a receiver does with a file whose name is taken by something that is not up to date. */
export type CollisionAnswer = 'rename' | 'overwrite' | 'skip';

export interface ReceiveOptions extends TransferOptions {
  /** Where addresses are remembered at which senders were reached; absent, or with discovery off: nowhere. */
  addressFile?: string | undefined;
  code: Code;
  /** The destination directory, absolute; created if missing. */
  out: string;
  /** A folder that `out` may not leave, also through a symlink that comes later: FOLDER_NOT_ALLOWED. */
  beneath?: string | undefined;
  /** Write the one offered file to standard output instead of `out`. A text is only ever handed over as an event. */
  toStdout?: boolean | undefined;
  /** Dial only this address. */
  connect?: HostPort | undefined;
  /** Where the sender was reached a moment ago: looked for there before anywhere else. */
  near?: HostPort | undefined;
  /** How long a lost session is tried to be taken up again; 0: not at all, 24 h if absent. */
  patienceMs?: number | undefined;
  /** `ask` calls `resolveCollision`, which must then be given. */
  collisions: CollisionAnswer | 'ask';
  /** Re-read what was written and compare it with the sender's digests. */
  verify?: boolean | undefined;
  /** Sync every file before it gets its name, and everything before the end: a power cut takes nothing that was received. */
  durable?: boolean | undefined;
  /**
   * Asked once, with the whole offer, before anything is written; false declines (OFFER_DECLINED), `out` accepts it into another destination.
   * Absent: accepted at once, without waiting for the walk to end.
   */
  confirm?: ((offer: OfferSummary) => Promise<OfferAnswer>) | undefined;
  /** Called with a text that was offered; the sender hears that it has come once this has resolved. */
  keepText?: ((text: string) => Promise<void>) | undefined;
  /** One call at a time; `path` is relative to `out`. */
  resolveCollision?: ((path: string) => Promise<CollisionAnswer>) | undefined;
}

/** What a receiver is asked about. Everything in it comes from the peer, to be made harmless before it is shown. */
export interface OfferSummary {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  /** The top-level names, at most 20. */
  names: string[];
  /** How many top-level names there are in all. */
  nameCount: number;
  peer: string;
  path: PathName;
  suite: Suite;
  /** A text is offered, not files; `bytes` is its length. */
  text?: boolean;
  /** Standard input is offered: its size is not known, `bytes` does not count it. */
  stream?: boolean;
}

/** What became of a transfer that ran to its end, which it also did if `failed` is not empty. */
export interface TransferSummary extends TransferCounts {
  failed: FailedEntry[];
}

/** The sums over all receivers. */
export interface SendResult extends TransferSummary {
  receivers: number;
}

export interface ReceiveResult extends TransferSummary {
  peer: string;
  /** The text, if one was offered. */
  text?: string;
}

/**
 * What a face (command line, desktop) can ask of this package.
 *
 * Both reject with a KeibiError, or with `signal.reason` once aborted; entries that failed on their own do not reject.
 */
export interface PeerApi {
  send(options: SendOptions): Promise<SendResult>;
  receive(options: ReceiveOptions): Promise<ReceiveResult>;
}
