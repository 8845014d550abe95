// SPDX-License-Identifier: MPL-2.0
import { assertBoolean, assertBytes, assertFunction, assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { checkedLane, type LaneDial, type LaneWay, MAX_LANE_NUMBERS } from './lane-dial.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';
import type { LaneEnd, LaneKeys, Page, Partial, Problem } from './send-job.ts';

/** If another file has the name of an entry: use a new name, overwrite it, skip the entry, or ask a person. */
export type Collision = 'rename' | 'overwrite' | 'skip' | 'ask';

/** The receiver's answer to one page of the manifest. */
export interface ReceivePlan {
  /** One bit per entry of the page (PROTOCOL 7). */
  wanted: Uint8Array;
  partials: Partial[];
  /** Entries that a person must decide on: see decide(). Only with 'ask'. */
  collisions: number[];
  /** Entries skipped although they differ, as chosen. */
  skipped: number[];
  /** Entries whose partial file of an earlier run has other content; they start over. */
  restarted: number[];
  /** Non-empty files that are already there, by size and time. */
  upToDate: number[];
}

/** The news of a ReceiveJob since the last look. */
export interface ReceiveNews {
  problems: Problem[];
  /** Entries placed under their final name, if `reportPlaced` is set. */
  placed: number[];
  lanesEnded: LaneEnd[];
  /** Set once: everything wanted is placed or has failed, and no more pages come. */
  complete: boolean;
}

/** The current state of an open lane. */
export interface LaneState {
  lane: number;
  /** Wire bytes received. */
  bytes: number;
  /** Segments received completely. */
  frames: number;
  /** The least round trip that the kernel has measured, 0 if unknown; through a relay, that to the relay. */
  rttMs: number;
  /** The kernel's name of the congestion control: 'bbr', 'cubic'. */
  control: string;
}

/** Counts of one run; bytes are of files. */
export interface ReceiveProgress {
  /** Placed by this run. */
  files: number;
  /** Bytes of the offer that are on disk: received now, kept from an earlier run, or already there. */
  bytes: number;
  /** Bytes of the files placed by this run. */
  placedBytes: number;
  /** Files that were already there or were skipped. */
  skipped: number;
  /** Part of `bytes` kept from an earlier run. */
  resumedBytes: number;
  /** Part of `bytes` that belongs to skipped files. */
  skippedBytes: number;
}

interface NativePlan {
  wanted: Uint8Array;
  partialEntries: number[];
  partialBitmaps: Uint8Array[];
  collisions: number[];
  skipped: number[];
  restarted: number[];
  upToDate: number[];
}

interface NativeReceiveJob {
  open(): Promise<void>;
  plan(first: number, count: number, page: Uint8Array): Promise<NativePlan>;
  decide(entry: number, collision: number): Promise<NativePlan>;
  endOfPages(): void;
  addLane(...dial: LaneDial): Promise<void>;
  cutLane(lane: number): void;
  lanes(): LaneState[];
  rekey(number: number, secret: Uint8Array): void;
  failEntry(entry: number, keepPart: boolean): void;
  discard(entry: number): void;
  takeNews(): ReceiveNews;
  progress(): [number, number, number, number, number, number];
  currentPath(): string;
  pathOf(entry: number): string;
  finalPathOf(entry: number): string;
  digest(entry: number): Promise<Uint8Array>;
  distrust(entry: number): Promise<void>;
  refetch(entry: number): Promise<NativePlan>;
  finish(): Promise<void>;
  close(): Promise<void>;
}

interface ReceiveJobBinding {
  ReceiveJob: new (
    out: string,
    collision: number,
    toStdout: boolean,
    reportPlaced: boolean,
    durable: boolean,
    budget: NativeRateBudget | undefined,
    onWake: () => void,
    beneath: string,
  ) => NativeReceiveJob;
}

const COLLISIONS: Collision[] = ['rename', 'overwrite', 'skip', 'ask'];

function collisionNumber(collision: Collision): number {
  const number = COLLISIONS.indexOf(collision);
  if (number < 0) throw misuse('collisions must be rename, overwrite, skip or ask');
  return number;
}

function planOf({ partialEntries, partialBitmaps, ...plan }: NativePlan): ReceivePlan {
  const partials = partialEntries.map((entry, i) => ({ entry, held: partialBitmaps[i] as Uint8Array }));
  return { ...plan, partials };
}

/**
 * One transfer on the receiving peer. Native threads carry bytes from the lanes to staging and rename whole files into
 * place; file bytes stay in native code. Await plan(), decide(), finish() and close() one after the other.
 */
export class ReceiveJob {
  readonly #native: NativeReceiveJob;

  /**
   * @param options.out           absolute; created by open() if need be
   * @param options.beneath       an absolute folder that `out` may not leave: no symlink below it is followed when open() resolves the path
   * @param options.toStdout      bytes of files go to standard output in order instead; needs exactly one lane
   * @param options.reportPlaced  news lists the placed entries
   * @param options.durable       a file gets its name once it would survive a power cut
   * @param options.budget        the rate limit shared with other jobs; absent: no limit
   * @param options.onWake        news is available; never called after close()
   */
  constructor(options: {
    out: string;
    beneath?: string | undefined;
    collisions: Collision;
    toStdout: boolean;
    reportPlaced: boolean;
    durable: boolean;
    budget?: RateBudget | undefined;
    onWake(): void;
  }) {
    const { out, beneath = '', collisions, toStdout, reportPlaced, durable } = options;
    const budget = RateBudget.nativeOf(options.budget);
    assertText('out', out);
    assertText('beneath', beneath);
    assertBoolean('toStdout', toStdout);
    assertBoolean('reportPlaced', reportPlaced);
    assertBoolean('durable', durable);
    assertFunction('onWake', options.onWake);
    const { ReceiveJob: Native } = loadBinding<ReceiveJobBinding>();
    const onWake = () => options.onWake();
    const collision = collisionNumber(collisions);
    this.#native = new Native(out, collision, toStdout, reportPlaced, durable, budget, onWake, beneath);
  }

  /** @throws TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL; FOLDER_NOT_ALLOWED if `out` leaves `beneath` */
  open(): Promise<void> {
    return this.#native.open();
  }

  /**
   * Takes the next page: creates its directories and symlinks, checks what exists, and returns what is wanted.
   *
   * @throws HANDSHAKE_MALFORMED, TRANSFER_LIMIT_EXCEEDED, TRANSFER_PATH_REFUSED: the page, and with it the transfer, is refused
   */
  async plan({ first, count, bytes }: Page): Promise<ReceivePlan> {
    assertInteger('first', first, 0, 0xffffffff);
    assertInteger('count', count, 0, 0xffffffff);
    assertBytes('bytes', bytes);
    return planOf(await this.#native.plan(first, count, bytes));
  }

  /**
   * A person's choice for one entry of the last plan's `collisions`. In the answer, the first bit of `wanted` is this
   * entry's.
   */
  async decide(entry: number, choice: Exclude<Collision, 'ask'>): Promise<ReceivePlan> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return planOf(await this.#native.decide(entry, collisionNumber(choice)));
  }

  /** No more pages come: the job can become complete. */
  endOfPages(): void {
    this.#native.endOfPages();
  }

  /**
   * Dials one lane (PROTOCOL 5.1) to a numeric address. The secret is copied.
   *
   * @throws PEER_UNREACHABLE, SESSION_LOST, CANCELLED soon after close(); RENDEZVOUS_BUSY, HANDSHAKE_TIMEOUT of a relay
   */
  addLane(host: string, port: number, lane: number, keys: LaneKeys, way: LaneWay = {}): Promise<void> {
    return this.#native.addLane(...checkedLane(host, port, lane, keys, way));
  }

  /** Ends one lane soon; news reports the end. */
  cutLane(lane: number): void {
    assertInteger('lane', lane, 0, MAX_LANE_NUMBERS - 1);
    this.#native.cutLane(lane);
  }

  lanes(): LaneState[] {
    return this.#native.lanes();
  }

  /** From now on every lane's reader can follow its writer to this rekey (PROTOCOL 4.3). The secret is copied. */
  rekey(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.rekey(number, secret);
  }

  /** The sender cannot deliver an entry. `keepPart` keeps the received part for a later run. */
  failEntry(entry: number, keepPart: boolean): void {
    assertInteger('entry', entry, 0, 0xffffffff);
    this.#native.failEntry(entry, keepPart);
  }

  /** A wanted file is counted as it arrives and not written. Call this before the sender learns that it is wanted. */
  discard(entry: number): void {
    assertInteger('entry', entry, 0, 0xffffffff);
    this.#native.discard(entry);
  }

  takeNews(): ReceiveNews {
    return this.#native.takeNews();
  }

  progress(): ReceiveProgress {
    const [files, bytes, placedBytes, skipped, resumedBytes, skippedBytes] = this.#native.progress();
    return { files, bytes, placedBytes, skipped, resumedBytes, skippedBytes };
  }

  /** The path in the manifest of the file being written; '' before the first. */
  currentPath(): string {
    return this.#native.currentPath();
  }

  /** An entry's path in the manifest, relative. */
  pathOf(entry: number): string {
    return this.#native.pathOf(entry);
  }

  /** The path of an entry below `out`; a collision may have changed its name. */
  finalPathOf(entry: number): string {
    return this.#native.finalPathOf(entry);
  }

  /** SHA-256 of each chunk of a placed file, read from the disk and not from memory. */
  digest(entry: number): Promise<Uint8Array> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return this.#native.digest(entry);
  }

  /** Marks a placed file as different from the one sent: its time is changed, so that a later run replaces it. */
  distrust(entry: number): Promise<void> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return this.#native.distrust(entry);
  }

  /** The same for one of the last plan's `upToDate`, which is fetched and replaced; returns as decide() does. */
  async refetch(entry: number): Promise<ReceivePlan> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return planOf(await this.#native.refetch(entry));
  }

  /**
   * After `complete`: directories get their mode and mtime; if `durable`, all that was placed survives a power cut from here on.
   *
   * @throws TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL
   */
  finish(): Promise<void> {
    return this.#native.finish();
  }

  /** Ends every thread and saves the bitmaps of unfinished files. Idempotent. */
  close(): Promise<void> {
    return this.#native.close();
  }
}
