// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '@keibidrop/discovery';
import type { Code, Suite } from '@keibidrop/protocol';
import type { ListenAddress, TransferOptions } from '../api.ts';
import type { PeerEvent } from '../events.ts';

/**
 * What was measured.
 *
 *   write, read     this disk, page cache left out      seal, open, sha256   one core of this machine
 *   loopback        TCP of this machine with itself     link                 to the peer, sealed, from memory to nowhere
 *   peerRead        the peer's disk, through the link   whole                a file, from the one disk to the other
 *   wholeOnDisk     the whole, until the disk and not only the page cache has it
 */
export type BenchPart =
  | 'write'
  | 'read'
  | 'seal'
  | 'open'
  | 'sha256'
  | 'loopback'
  | 'link'
  | 'peerRead'
  | 'whole'
  | 'wholeOnDisk';

/** There is room, and writing begins. The first event of a bench that writes before it meets anybody. */
export interface StartEvent {
  type: 'start';
  /** Of each file. */
  bytes: number;
  dir: string;
}

/** One figure. */
export interface MeasuredEvent {
  type: 'measured';
  part: BenchPart;
  bytesPerSecond: number;
  /** Of `seal` and `open`. */
  suite?: Suite;
  /** Of `read` and `write`: the file system keeps files in memory, so no disk was measured. */
  fromMemory?: boolean;
}

/** How long a TCP connection to the peer takes to stand. */
export interface RoundTripEvent {
  type: 'roundTrip';
  seconds: number;
}

/** What limits: the slowest part, or that all of them share the machine. The last event. */
export interface LimitEvent {
  type: 'limit';
  part: BenchPart | 'sharing';
  /** What that lets through. */
  bytesPerSecond: number;
  /** The part that would limit next. */
  next?: { part: BenchPart; bytesPerSecond: number };
  /** How fast a file went from end to end; more than the disk's rate where memory takes it first. */
  wholeBytesPerSecond: number;
}

export type BenchEvent = StartEvent | MeasuredEvent | RoundTripEvent | LimitEvent | PeerEvent;

interface BenchOptions {
  /** Where temporary files go; absolute, and there. */
  dir: string;
  suite?: Suite | undefined;
  /** What this peer calls itself. */
  label: string;
  /** Ends it; everything temporary is removed and the promise rejects with `signal.reason`. */
  signal: AbortSignal;
  onEvent(event: BenchEvent): void;
}

/** A second process that offers one file to one receiver. */
export interface SenderProcess {
  code: Code;
  address: HostPort;
  /** Ends it if it still runs; resolves when it is gone. */
  end(): Promise<void>;
}

export interface BenchAloneOptions extends BenchOptions {
  /** Bytes of each file. */
  size: number;
  /** `scratch` is a directory to do in as one likes. */
  startSender(path: string, options: { scratch: string; signal: AbortSignal }): Promise<SenderProcess>;
}

export interface WaitForBenchOptions extends BenchOptions, Pick<TransferOptions, 'reach'> {
  /** Bytes of each file. */
  size: number;
  code?: Code | undefined;
  wordCount?: number | undefined;
  insecureCode?: boolean | undefined;
  listen: ListenAddress;
}

export interface BenchAgainstOptions extends BenchOptions, Pick<TransferOptions, 'reach'> {
  code: Code;
  connect?: HostPort | undefined;
}
