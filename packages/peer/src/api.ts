// SPDX-License-Identifier: MPL-2.0
import type { Discovery, HostPort } from '@keibidrop/discovery';
import type { Selection } from '@keibidrop/native';
import type { Code, Suite } from '@keibidrop/protocol';
import type { ListenAddress } from '@keibidrop/settings';
import type { EntryLog } from '@keibidrop/transfer';
import type { SaveOptions } from './contact-introduction.ts';
import type { FailedEntry, PathName, PeerEvent, TransferCounts } from './events.ts';
import type { PauseSwitch } from './pause-switch.ts';

/** How peers may be found and reached. */
export interface ReachOptions {
  /** `HOST:PORT` or a URL of a public rendezvous. Absent: only the one each sender embeds. */
  rendezvous?: string | undefined;
  /** Which networks to search for peers: all, none, or the one interface named. */
  discovery: Discovery;
  /** Never use a relay. */
  directOnly: boolean;
  /** Use only the relay of `rendezvous`, which is then required. No address is revealed, and only the relay is dialled. */
  relayOnly: boolean;
}

/** Options of both sides of a transfer. */
export interface TransferOptions {
  /** Forces one suite; absent: both sides compute the choice (PROTOCOL 3). */
  suite?: Suite | undefined;
  /** Limit for all lanes of this side, to or from all peers together; absent: none. */
  limitBytesPerSecond?: number | undefined;
  reach: ReachOptions;
  /** This peer's display name, at most MAX_LABEL_BYTES of UTF-8. */
  label: string;
  /**
   * Saves the other side as a contact, if it wants the same; absent: our identity stays hidden. For a sender only with
   * `receivers: 1`.
   */
  save?: SaveOptions | undefined;
  /** Pauses all data of this side; absent: it cannot be paused. */
  pausing?: PauseSwitch | undefined;
  /** Emit a `file` event for each file. */
  verbose?: boolean | undefined;
  /**
   * Returns the log in which a session, by its number as in events, records its files. Called again when a session returns.
   * Absent: no log.
   */
  entriesOf?: ((session: number) => EntryLog) | undefined;
  /** Aborts the transfer; the promise then rejects with `signal.reason`. */
  signal: AbortSignal;
  /** Called in order, on the event loop, never after the promise has settled. Must not throw. */
  onEvent(event: PeerEvent): void;
}

/** Exactly one of `paths` (not empty), `stdin` and `text` sets the content of the offer. */
export interface SendOptions extends TransferOptions {
  paths: string[];
  /** Folders that `paths` may not leave while they are read, even through a symlink created later; absent: no limit. */
  beneath?: readonly string[] | undefined;
  /** Names below `paths` that are left out; absent: none. */
  selection?: Selection | undefined;
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
  /** Ends after this many receivers have been served; 0: runs until `signal`. */
  receivers: number;
}

/** False declines an offer. `out` replaces the destination: absolute, created if missing. */
export type OfferAnswer = boolean | { out: string };

/** How a receiver resolves a name that is taken by a different or outdated file. */
export type CollisionAnswer = 'rename' | 'overwrite' | 'skip';

export interface ReceiveOptions extends TransferOptions {
  /** File that remembers the addresses at which senders were reached; absent, or with discovery off: none. */
  addressFile?: string | undefined;
  code: Code;
  /** The destination directory, absolute; created if missing. */
  out: string;
  /** A folder that `out` may not leave, even through a symlink created later: FOLDER_NOT_ALLOWED. */
  beneath?: string | undefined;
  /** Write the one offered file to standard output instead of `out`. A text is always delivered as an event. */
  toStdout?: boolean | undefined;
  /** Dial only this address. */
  connect?: HostPort | undefined;
  /** Recent address of the sender, which is tried first. */
  near?: HostPort | undefined;
  /** How long to try to resume a lost session; 0: not at all, 24 h if absent. */
  patienceMs?: number | undefined;
  /** `ask` calls `resolveCollision`, which is then required. */
  collisions: CollisionAnswer | 'ask';
  /** Re-read the written files and compare them with the sender's digests. */
  verify?: boolean | undefined;
  /** Sync every file before it gets its name, and all of them before the end, so that received files survive a power cut. */
  durable?: boolean | undefined;
  /**
   * Called once, with the whole offer, before anything is written. False declines (OFFER_DECLINED); `out` accepts into another
   * destination. Absent: accepts at once, without waiting for the walk to end.
   */
  confirm?: ((offer: OfferSummary) => Promise<OfferAnswer>) | undefined;
  /** Called with an offered text. The sender learns of its arrival once this has resolved. */
  keepText?: ((text: string) => Promise<void>) | undefined;
  /** One call at a time; `path` is relative to `out`. */
  resolveCollision?: ((path: string) => Promise<CollisionAnswer>) | undefined;
}

/** The offer that a receiver confirms. All of it is the peer's text: sanitize it before display. */
export interface OfferSummary {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  /** The top-level names, at most 20. */
  names: string[];
  /** The total number of top-level names. */
  nameCount: number;
  peer: string;
  path: PathName;
  suite: Suite;
  /** The offer is a text, not files; `bytes` is its length. */
  text?: boolean;
  /** The offer is standard input: its size is unknown and not part of `bytes`. */
  stream?: boolean;
}

/** The result of a transfer that ran to its end, even if `failed` is not empty. */
export interface TransferSummary extends TransferCounts {
  failed: FailedEntry[];
}

/** The sums over all receivers. */
export interface SendResult extends TransferSummary {
  receivers: number;
}

export interface ReceiveResult extends TransferSummary {
  peer: string;
  /** The text, if the offer was one. */
  text?: string;
}
