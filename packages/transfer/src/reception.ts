// SPDX-License-Identifier: MPL-2.0
import {
  type Collision,
  type Page,
  type Partial,
  type RateBudget,
  ReceiveJob,
  type ReceivePlan,
} from '@keibidrop/native';
import type { PeerClient, ReceiverMessage } from '@keibidrop/proto';
import { type ErrorCode, KeibiError, messageFor } from '@keibidrop/protocol';
import { foldsNames } from './case-folding.ts';
import { compareDigests } from './digests.ts';
import type { EntryLog } from './entry-log.ts';
import { LaneManager, type LanePlan } from './lane-manager.ts';
import type { Offer } from './offer.ts';
import { type FailedEntry, failedEntry, fileOf, type TransferProgress } from './outcome.ts';
import type { ReceptionCounts, RunTally } from './run-tally.ts';

export interface ReceptionOptions {
  out: string;
  /** A folder that `out` must stay inside, even through a symlink created later. */
  beneath?: string | undefined;
  toStdout: boolean;
  collisions: Collision;
  durable: boolean;
  verbose: boolean;
  budget?: RateBudget | undefined;
  /** Counts of earlier sessions of this run; this session is added if it ends early. */
  tally: RunTally;
  entries?: EntryLog | undefined;
  signal: AbortSignal;
  lanes: LanePlan;
  resolveCollision?: ((path: string) => Promise<Exclude<Collision, 'ask'>>) | undefined;
  /** Selects files that are only counted and not written, for measurements. */
  discards?: ((path: string) => boolean) | undefined;
  /** Compares existing files with the sender's before they count as up to date. Absent: size and time decide. */
  verifyWith?: PeerClient | undefined;
  onFile(path: string): void;
  onWarning(message: string, path?: string): void;
}

/** Receives the events of a reception. */
export interface ReceptionEvents {
  write(body: ReceiverMessage['body']): void;
  onFailed(failed: FailedEntry): void;
  progress(progress: TransferProgress): void;
}

const PROGRESS_EVERY_MS = 100;
/** Failures after which the received part of a file is useless. */
const WORTHLESS: readonly ErrorCode[] = ['TRANSFER_SOURCE_CHANGED', 'TRANSFER_SOURCE_MISSING'];

/** The receiving end of an accepted offer: a native job, its questions to the user, and its messages to the sender. */
export class Reception {
  readonly lanes: LaneManager;
  readonly #options: ReceptionOptions;
  readonly #events: ReceptionEvents;
  readonly #job: ReceiveJob;
  readonly #failedEntries = new Set<number>();
  readonly #leftAlone = new Set<number>();
  /** Found equal to the sender's by the digests in `answer`. */
  readonly #verified = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #settle: { resolve(counts: ReceptionCounts): void; reject(reason: unknown): void } | undefined;
  #early: KeibiError | undefined;
  #finished = false;

  constructor(options: ReceptionOptions, events: ReceptionEvents) {
    this.#options = options;
    this.#events = events;
    const { out, beneath, collisions, toStdout, durable, budget, verbose: reportPlaced } = options;
    const onWake = () => this.#drain();
    this.#job = new ReceiveJob({ out, beneath, collisions, toStdout, durable, budget, reportPlaced, onWake });
    this.lanes = new LaneManager({
      job: this.#job,
      plan: options.lanes,
      write: (body) => events.write(body),
      onFailed: (reason) => this.#break(reason),
    });
  }

  /** Prepares the destination; true if it ignores case in names. */
  async open(): Promise<boolean> {
    try {
      await this.#job.open();
    } catch (reason) {
      throw unusable(reason, this.#options.out);
    }
    this.#timer = setInterval(() => {
      this.#drain(); // polled: an event per placed file would cost a wake-up each
      this.#report();
    }, PROGRESS_EVERY_MS);
    return this.#options.toStdout ? false : foldsNames(this.#options.out);
  }

  async openLanes(): Promise<void> {
    try {
      await this.lanes.open();
    } catch (reason) {
      throw asKeibiError(reason, 'PEER_UNREACHABLE');
    }
  }

  /** Plans one page and answers the sender which entries are wanted. */
  async answer(page: Page): Promise<void> {
    let plan: ReceivePlan;
    try {
      plan = await this.#job.plan(page);
    } catch (reason) {
      throw asKeibiError(reason, 'INTERNAL');
    }
    const { wanted, partials } = plan;
    this.#note(plan);
    for (const entry of plan.collisions) await this.#decide(entry, page.first, wanted, partials);
    await this.#repair(plan.upToDate, page.first, wanted);
    this.#discard(page, wanted);
    this.#options.entries?.answer(page.first, wanted);
    this.#events.write({ $case: 'answer', value: { firstEntry: page.first, count: page.count, wanted, partials } });
  }

  async #decide(entry: number, first: number, wanted: Uint8Array, partials: Partial[]): Promise<void> {
    const choice = await this.#options.resolveCollision?.(this.#job.pathOf(entry));
    this.#options.signal.throwIfAborted();
    const decided = await this.#job.decide(entry, choice ?? 'rename');
    this.#note(decided);
    partials.push(...decided.partials);
    addWanted(wanted, entry - first, decided);
  }

  /** Also wants existing files whose contents differ from the sender's. */
  async #repair(upToDate: readonly number[], first: number, wanted: Uint8Array): Promise<void> {
    const { verifyWith } = this.#options;
    if (verifyWith === undefined || upToDate.length === 0) return;
    const digest = (entry: number) => this.#job.digest(entry);
    for await (const { entry, code } of compareDigests(verifyWith, upToDate, digest, this.#options)) {
      if (code === undefined) this.#verified.add(entry);
      if (code !== 'TRANSFER_DIGEST_MISMATCH') continue;
      this.#options.onWarning('is damaged here; fetching it again', this.#job.pathOf(entry));
      addWanted(wanted, entry - first, await this.#job.refetch(entry));
    }
  }

  #discard({ first, count }: Page, wanted: Uint8Array): void {
    const { discards } = this.#options;
    if (!discards) return;
    for (let i = 0; i < count; i++) {
      const isWanted = (wanted[i >> 3] ?? 0) & (1 << (i & 7));
      if (isWanted && discards(this.#job.pathOf(first + i))) this.#job.discard(first + i);
    }
  }

  #note({ restarted, skipped }: ReceivePlan): void {
    for (const entry of skipped) this.#leftAlone.add(entry);
    for (const entry of restarted) {
      this.#options.onWarning('changed at the sender since it was interrupted; starting over', this.#job.pathOf(entry));
    }
  }

  rekey(number: number, secret: Uint8Array): void {
    this.#job.rekey(number, secret);
  }

  /** The sender reports that it cannot deliver an entry. */
  failEntry(entry: number, code: ErrorCode): void {
    this.#failedEntries.add(entry);
    this.#job.failEntry(entry, !WORTHLESS.includes(code));
  }

  /** Call it after the last page; resolves once every entry is complete or has failed. */
  async complete(): Promise<ReceptionCounts> {
    const { signal } = this.#options;
    const onAbort = () => this.#settle?.reject(signal.reason);
    signal.throwIfAborted();
    try {
      return await new Promise<ReceptionCounts>((resolve, reject) => {
        this.#settle = { resolve, reject };
        signal.addEventListener('abort', onAbort, { once: true });
        if (this.#early) reject(this.#early);
        this.#job.endOfPages();
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Re-reads every complete file and compares it with the sender's. */
  async verify(client: PeerClient, offer: Offer): Promise<void> {
    const entries: number[] = [];
    for (let entry = 0; entry < offer.entries; entry++) {
      const isSettled = this.#failedEntries.has(entry) || this.#leftAlone.has(entry) || this.#verified.has(entry);
      if (offer.isFile(entry) && !isSettled) entries.push(entry);
    }
    const digest = (entry: number) => this.#job.digest(entry);
    for await (const { entry, code } of compareDigests(client, entries, digest, this.#options)) {
      if (code === undefined) continue;
      if (code === 'TRANSFER_DIGEST_MISMATCH') await this.#job.distrust(entry);
      this.#fail(entry, { path: this.#job.pathOf(entry), code, message: messageFor(code) });
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#job.finish();
    } catch (reason) {
      throw unusable(reason, this.#options.out);
    }
    this.#finished = true;
    this.#drain();
    this.#report();
    this.#options.entries?.finish();
  }

  /** Ends everything and keeps the data received so far. Call it once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.lanes.close();
    await this.#job.close();
    if (!this.#finished) this.#options.tally.add(this.#job.progress());
  }

  /** Reports a failure to both sides. */
  #fail(entry: number, failed: FailedEntry): void {
    this.#options.entries?.fail(entry, failed.code);
    this.#events.onFailed(failed);
    this.#events.write({ $case: 'failed', value: { entry, code: failed.code, path: failed.path } });
  }

  #report(): void {
    const progress = this.#job.progress();
    const { bytes } = progress;
    const files = progress.files + progress.skipped;
    this.#options.entries?.progress({ files, bytes });
    const { resumedBytes } = this.#options.tally.totalWith(progress);
    this.#events.progress({ files, bytes, resumedBytes, ...fileOf(this.#job) });
    const lanes = this.lanes.taken().map(({ lane, frames }) => ({ lane, frames }));
    this.#events.write({ $case: 'progress', value: { files, bytes, lanes } });
  }

  #drain(): void {
    const { problems, placed, lanesEnded, complete } = this.#job.takeNews();
    for (const problem of problems) {
      // A directory can fail twice: when it is made, and when it is given its time.
      if (this.#failedEntries.has(problem.entry)) continue;
      this.#failedEntries.add(problem.entry);
      this.#fail(problem.entry, failedEntry(problem));
    }
    for (const entry of placed) {
      this.#options.entries?.place(entry);
      this.#options.onFile(this.#job.finalPathOf(entry));
    }
    if (complete) this.#settle?.resolve(this.#options.tally.totalWith(this.#job.progress()));
    try {
      this.lanes.take(lanesEnded);
    } catch (reason) {
      this.#break(KeibiError.from(reason, 'SESSION_LOST'));
    }
  }

  #break(reason: KeibiError): void {
    this.#early = reason;
    this.#settle?.reject(reason);
  }
}

/** Sets one entry's bit of a page if a plan of that entry alone wants it. */
function addWanted(wanted: Uint8Array, bit: number, plan: ReceivePlan): void {
  const byte = wanted[bit >> 3] ?? 0;
  if ((plan.wanted[0] ?? 0) & 1) wanted[bit >> 3] = byte | (1 << (bit & 7));
}

/** Converts an error of native to a KeibiError with its code. */
function asKeibiError(reason: unknown, fallback: ErrorCode): KeibiError {
  const { code } = reason as { code?: ErrorCode };
  return new KeibiError(code ?? fallback, undefined, { cause: reason });
}

function unusable(reason: unknown, out: string): KeibiError {
  const { code } = asKeibiError(reason, 'TRANSFER_DESTINATION_UNUSABLE');
  const why = reason instanceof Error ? reason.message.slice(reason.message.lastIndexOf(': ') + 2) : '';
  return new KeibiError(code, `${out}: ${messageFor(code)} (${why})`, { cause: reason });
}
