// SPDX-License-Identifier: MPL-2.0
import { type RateBudget, ReadJob } from '@keibidrop/native';
import { type CachedFile, type ErrorCode, KeibiError, type WantedBlocks } from '@keibidrop/protocol';
import { GuestLanes } from './guest-lanes.ts';
import type { GuestSession } from './guest-session.ts';

/** Ends a lane whose answer is overdue by this much while its session lives. */
const SILENT_MS = 10_000;
const LOOK_EVERY_MS = 1000;

/** Error codes of native code, as they apply to a share. */
const REPORTED: Readonly<Record<string, ErrorCode>> = {
  TRANSFER_PATH_REFUSED: 'SHARE_PATH_REFUSED',
  TRANSFER_SOURCE_MISSING: 'SHARE_NOT_FOUND',
  TRANSFER_SOURCE_UNREADABLE: 'SHARE_UNREADABLE',
  TRANSFER_SOURCE_CHANGED: 'TRANSFER_SOURCE_CHANGED',
};

interface Waiting {
  resolve(): void;
  reject(reason: unknown): void;
}

/** An open file, identified by its cache. */
interface OpenFile {
  readonly number: Promise<number>;
}

/** The current session, as far as reads need it. */
interface Serving {
  readonly lanes: GuestLanes;
  readonly session: GuestSession;
}

/**
 * Reads files of a share in place, into caches, over as many sessions as the guest has: a want waits while there is none, for as long as its
 * `signal` allows.
 */
export class ShareReads {
  readonly #job: ReadJob;
  readonly #files = new Map<string, OpenFile>();
  readonly #waiting = new Map<number, Waiting>();
  #wants = 0;
  #serving: Serving | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over: { reason: unknown } | undefined;

  /** @param options.budget  the rate it keeps to; absent: no limit */
  constructor({ budget }: { budget?: RateBudget | undefined } = {}) {
    this.#job = new ReadJob({ budget, onWake: () => this.#takeNews() });
  }

  /** A session has begun: its lanes are dialled. */
  begin(session: GuestSession): void {
    if (this.#over !== undefined) return;
    const lanes = new GuestLanes(this.#job, session.lanes, (reason) => void session.close(reason));
    session.carried(this.#job, 0);
    this.#serving = { lanes, session };
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    lanes.begin();
  }

  /** The session is over. Resolves when its lanes are gone, and another may begin. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#serving?.lanes.close();
    this.#serving = undefined;
    await this.#job.endSession();
  }

  /**
   * Resolves when the blocks [first, first + count) of a file are in its cache; so many `ahead` behind them are begun with as well.
   *
   * @returns  how many blocks a reader may have ahead of it: as many as the path carries in two round trips
   * @throws   TRANSFER_SOURCE_CHANGED (it has another size or mtime now), SHARE_NOT_FOUND, SHARE_UNREADABLE, SHARE_PATH_REFUSED,
   *           TRANSFER_DISK_FULL, TRANSFER_DESTINATION_UNUSABLE; what ended the share; `signal.reason` on abort
   */
  async want(
    file: CachedFile,
    blocks: WantedBlocks,
    { signal }: { signal: AbortSignal },
  ): Promise<{ aheadBlocks: number }> {
    signal.throwIfAborted();
    if (this.#over !== undefined) throw this.#over.reason;
    try {
      const number = await this.#open(file).number;
      signal.throwIfAborted();
      await this.#settled(number, blocks, signal);
    } catch (reason) {
      signal.throwIfAborted();
      const reported = reportedBy(reason);
      // A later want asks the peer again.
      if (reported.detail?.remote === true) this.release(file);
      throw reported;
    }
    return { aheadBlocks: this.#job.aheadBlocks };
  }

  /** The file was closed: drops its requests; its wants reject with CANCELLED. */
  release(file: CachedFile): void {
    const key = keyOf(file);
    const open = this.#files.get(key);
    this.#files.delete(key);
    open?.number.then((number) => this.#job.release(number), nothing);
  }

  /** The reader has jumped: drops prefetched blocks that no want waits for. */
  leaveAhead(file: CachedFile): void {
    const open = this.#files.get(keyOf(file));
    open?.number.then((number) => this.#job.leaveAhead(number), nothing);
  }

  /** Ends every want with `reason`. Idempotent. */
  async close(reason: unknown): Promise<void> {
    this.#over ??= { reason };
    clearInterval(this.#timer);
    this.#serving?.lanes.close();
    for (const { reject } of this.#waiting.values()) reject(this.#over.reason);
    this.#waiting.clear();
    await this.#job.close();
  }

  #open(file: CachedFile): OpenFile {
    const key = keyOf(file);
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const open = { number: this.#job.open(file) };
    this.#files.set(key, open);
    open.number.catch(() => this.#files.delete(key));
    return open;
  }

  async #settled(number: number, blocks: WantedBlocks, signal: AbortSignal): Promise<void> {
    const want = this.#number();
    if (this.#job.want(want, number, blocks)) return;
    const onAbort = () => this.#waiting.get(want)?.reject(signal.reason);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.set(want, { resolve, reject });
        signal.addEventListener('abort', onAbort, { once: true });
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (this.#waiting.delete(want)) this.#job.cancel(number, want);
    }
  }

  /** A number that no pending want has. */
  #number(): number {
    do this.#wants = (this.#wants + 1) >>> 0;
    while (this.#waiting.has(this.#wants));
    return this.#wants;
  }

  #takeNews(): void {
    const { settled, lanesEnded } = this.#job.takeNews();
    for (const { want, code } of settled) {
      const waiting = this.#waiting.get(want);
      this.#waiting.delete(want);
      if (code === '') waiting?.resolve();
      else waiting?.reject(Object.assign(new Error(code), { code }));
    }
    this.#serving?.lanes.took(lanesEnded);
  }

  #look(): void {
    this.#job.cutSilent(SILENT_MS);
    this.#serving?.session.carried(this.#job, this.#job.bytes);
  }
}

const nothing = () => {};

function keyOf({ path, directory, key }: CachedFile): string {
  return `${directory}\0${key}\0${path}`;
}

function reportedBy(reason: unknown): KeibiError {
  if (reason instanceof KeibiError) return reason;
  const reported = REPORTED[(reason as { code?: string }).code ?? ''];
  if (reported === undefined) return KeibiError.from(reason, 'INTERNAL');
  return new KeibiError(reported, undefined, { cause: reason, detail: { remote: true } });
}
