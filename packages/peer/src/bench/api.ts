// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '@keibidrop/discovery';
import type { Code, Suite } from '@keibidrop/protocol';
import type { ListenAddress } from '@keibidrop/settings';
import type { TransferOptions } from '../api.ts';
import type { PeerEvent } from '../events.ts';

/**
 * The parts of a bench.
 *
 * - `write`, `read`: this disk, without the page cache
 * - `seal`, `open`, `sha256`: one core of this machine
 * - `loopback`: TCP within this machine
 * - `link`: sealed data from memory to the peer, which discards it
 * - `peerRead`: the peer's disk, through the link
 * - `whole`: a file from one disk to the other
 * - `wholeOnDisk`: like `whole`, until the file is on the disk and not only in the page cache
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

/** There is enough space, and writing begins. The first event of a bench that writes before it meets its peer. */
export interface StartEvent {
  type: 'start';
  /** The size of each file. */
  bytes: number;
  dir: string;
}

/** One measured rate. */
export interface MeasuredEvent {
  type: 'measured';
  part: BenchPart;
  bytesPerSecond: number;
  /** For `seal` and `open`. */
  suite?: Suite;
  /** For `read` and `write`: the file system keeps files in memory, so no disk was measured. */
  fromMemory?: boolean;
}

/** The time to open a TCP connection to the peer. */
export interface RoundTripEvent {
  type: 'roundTrip';
  seconds: number;
}

/** The bottleneck: the slowest part, or that all parts share the machine. The last event. */
export interface LimitEvent {
  type: 'limit';
  part: BenchPart | 'sharing';
  /** The rate that it allows. */
  bytesPerSecond: number;
  /** The next bottleneck after this one. */
  next?: { part: BenchPart; bytesPerSecond: number };
  /** The rate of a file from end to end; above the disk's rate where memory takes it first. */
  wholeBytesPerSecond: number;
}

export type BenchEvent = StartEvent | MeasuredEvent | RoundTripEvent | LimitEvent | PeerEvent;

interface BenchOptions {
  /** The folder of temporary files; absolute and existing. */
  dir: string;
  suite?: Suite | undefined;
  /** This peer's display name. */
  label: string;
  /** Aborts the bench; all temporary files are removed and the promise rejects with `signal.reason`. */
  signal: AbortSignal;
  onEvent(event: BenchEvent): void;
}

/** A second process that offers one file to one receiver. */
export interface SenderProcess {
  code: Code;
  address: HostPort;
  /** Ends it if it still runs; resolves when it has exited. */
  end(): Promise<void>;
}

export interface BenchAloneOptions extends BenchOptions {
  /** Bytes of each file. */
  size: number;
  /** `scratch` is a directory for any temporary files. */
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
