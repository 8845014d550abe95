// SPDX-License-Identifier: MPL-2.0
import { assertBoolean, assertBytes, assertFunction, assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { checkedLane, type LaneDial, type LaneWay, MAX_LANE_NUMBERS } from './lane-dial.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';
import type { LaneEnd, LaneKeys, Page, Partial, Problem } from './send-job.ts';

/** What to do when something else has the name of an entry: a new name, replace it, leave it, or let a person say. */
export type Collision = 'rename' | 'overwrite' | 'skip' | 'ask';

/** What the receiver says to one page of the manifest. */
export interface Survey {
  /** One bit per entry of the page (PROTOCOL 7). */
  wanted: Uint8Array;
  partials: Partial[];
  /** Entries for which a person has to choose: see decide(). Only with 'ask'. */
  collisions: number[];
  /** Entries left alone though they are different, as chosen. */
  skipped: number[];
  /** Entries of which an earlier run left a part of other content; they start over. */
  restarted: number[];
  /** Files with content that stand already, by their size and time. */
  upToDate: number[];
}

/** What has happened in a ReceiveJob since the last look. */
export interface ReceiveNews {
  problems: Problem[];
  /** Entries placed under their final name, if they were asked for. */
  placed: number[];
  lanesEnded: LaneEnd[];
  /** Once: everything wanted stands or has failed, and no more pages come. */
  complete: boolean;
}

/** A lane that is up, as it is now. */
export interface LaneState {
  lane: number;
  /** Of the wire, received. */
  bytes: number;
  /** Of segments, taken whole. */
  frames: number;
  /** The least round trip that the kernel has seen, 0 where it does not say; through a relay that to the relay. */
  rttMs: number;
  /** Of congestion, as the kernel calls it: 'bbr', 'cubic'. */
  control: string;
}

/** Counts of one run; bytes are of files. */
export interface ReceiveProgress {
  /** Placed by this run. */
  files: number;
  /** Of the offer, on disk: received now, held from an earlier run, or already there. */
  bytes: number;
  /** Of the files placed by this run. */
  placedBytes: number;
  /** Files that were there already or were left alone. */
  skipped: number;
  /** Part of `bytes` that an earlier run had left. */
  resumedBytes: number;
  /** Part of `bytes`: of the files skipped. */
  skippedBytes: number;
}

interface NativeSurvey {
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
  survey(first: number, count: number, page: Uint8Array): Promise<NativeSurvey>;
  decide(entry: number, collision: number): Promise<NativeSurvey>;
  endOfPages(): void;
  addLane(...dial: LaneDial): Promise<void>;
  cutLane(lane: number): void;
  lanes(): LaneState[];
  fold(number: number, secret: Uint8Array): void;
  failEntry(entry: number, keepPart: boolean): void;
  discard(entry: number): void;
  takeNews(): ReceiveNews;
  progress(): [number, number, number, number, number, number];
  pathOf(entry: number): string;
  finalPathOf(entry: number): string;
  digest(entry: number): Promise<Uint8Array>;
  distrust(entry: number): Promise<void>;
  refetch(entry: number): Promise<NativeSurvey>;
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

function surveyOf({ partialEntries, partialBitmaps, ...survey }: NativeSurvey): Survey {
  const partials = partialEntries.map((entry, i) => ({ entry, held: partialBitmaps[i] as Uint8Array }));
  return { ...survey, partials };
}

/**
 * One transfer on the receiving peer. Native threads carry bytes from the lanes to staging and rename whole files into place; no
 * byte of a file comes here. survey(), decide(), finish() and close() are awaited one after the other.
 */
export class ReceiveJob {
  readonly #native: NativeReceiveJob;

  /**
   * @param options.out           absolute; created by open() if need be
   * @param options.beneath       an absolute folder that `out` may not leave: no symlink below it is followed when open() resolves the path
   * @param options.toStdout      bytes of files go to standard output in order instead; needs exactly one lane
   * @param options.reportPlaced  news tells the entries placed
   * @param options.durable       a file gets its name once it would survive a power cut
   * @param options.budget        the rate it keeps to, with the other jobs that have it; absent: no limit
   * @param options.onWake        there is news to take; never after close()
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
   * Takes the next page: makes its directories and symlinks, looks what is there already, says what is wanted.
   *
   * @throws HANDSHAKE_MALFORMED, TRANSFER_LIMIT_EXCEEDED, TRANSFER_PATH_REFUSED: the page, and with it the transfer, is refused
   */
  async survey({ first, count, bytes }: Page): Promise<Survey> {
    assertInteger('first', first, 0, 0xffffffff);
    assertInteger('count', count, 0, 0xffffffff);
    assertBytes('bytes', bytes);
    return surveyOf(await this.#native.survey(first, count, bytes));
  }

  /** A person's choice for one entry of the last survey's `collisions`; `wanted` of the answer has this entry's bit as its first. */
  async decide(entry: number, choice: Exclude<Collision, 'ask'>): Promise<Survey> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return surveyOf(await this.#native.decide(entry, collisionNumber(choice)));
  }

  /** No more pages come: news can become complete. */
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

  /** Ends one lane soon; news tell when. */
  cutLane(lane: number): void {
    assertInteger('lane', lane, 0, MAX_LANE_NUMBERS - 1);
    this.#native.cutLane(lane);
  }

  lanes(): LaneState[] {
    return this.#native.lanes();
  }

  /** Every lane's reader can follow its writer to this fold (PROTOCOL 4.3). The secret is copied. */
  fold(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.fold(number, secret);
  }

  /** The sender cannot deliver an entry. `keepPart` leaves what came of it for a later run. */
  failEntry(entry: number, keepPart: boolean): void {
    assertInteger('entry', entry, 0, 0xffffffff);
    this.#native.failEntry(entry, keepPart);
  }

  /** A wanted file is counted as it comes and written nowhere. To be said before the sender hears that it is wanted. */
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

  /** An entry's path in the manifest, relative. */
  pathOf(entry: number): string {
    return this.#native.pathOf(entry);
  }

  /** Where an entry stands below `out`; a collision may have changed its name. */
  finalPathOf(entry: number): string {
    return this.#native.finalPathOf(entry);
  }

  /** SHA-256 of each chunk of a placed file, read from the disk and not from memory. */
  digest(entry: number): Promise<Uint8Array> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return this.#native.digest(entry);
  }

  /** A placed file is not what was sent: its time says so from now on, and any later run replaces it. */
  distrust(entry: number): Promise<void> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return this.#native.distrust(entry);
  }

  /** The same for one of the last survey's `upToDate`, which is fetched and replaced; answers as decide() does. */
  async refetch(entry: number): Promise<Survey> {
    assertInteger('entry', entry, 0, 0xffffffff);
    return surveyOf(await this.#native.refetch(entry));
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
