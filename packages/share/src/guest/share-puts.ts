// SPDX-License-Identifier: MPL-2.0
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangedFile } from '@keibidrop/mount';
import { type RateBudget, WriteJob } from '@keibidrop/native';
import { type OpenWriteReply, type OpenWriteRequest, ShareService } from '@keibidrop/proto';
import {
  callFailure,
  checkSharePath,
  KeibiError,
  MAX_LANES,
  type ShareEntry,
  systemErrorIn,
} from '@keibidrop/protocol';
import { checkedEntry } from '../share-entries.ts';
import { toWireTime } from '../wire-time.ts';
import { GuestLanes } from './guest-lanes.ts';
import type { GuestSession } from './guest-session.ts';
import { within } from './pending-session.ts';
import { Semaphore } from './semaphore.ts';

/** Ends a lane whose answer is overdue by this much while none of its bytes get through: a disk may be slow. */
const SILENT_MS = 30_000;
const LOOK_EVERY_MS = 1000;
/** Concurrent puts; the peer lets a guest have more files open. */
const MOST_PUTS = 64;
/** The other half is for reads. */
const MOST_LANES = MAX_LANES / 2;
/** Before a file that another overlay writes at the moment is opened again: the first pause, doubled with each, and the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;
/** Never aborted, with any number of listeners. */
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Makes a call in the current session, and repeats it in the next one if the session is lost. */
export type InSession = <Reply>(signal: AbortSignal, work: (session: GuestSession) => Promise<Reply>) => Promise<Reply>;

interface Waiting {
  resolve(): void;
  reject(reason: unknown): void;
}

/** The current session, as far as writes need it. */
interface Serving {
  readonly session: GuestSession;
  /** The session number of the job. */
  readonly number: number;
  /** Set once there was something to write. */
  lanes?: GuestLanes;
}

/**
 * Writes changed files of a share in place, over any number of sessions: a put that loses its session restarts in the
 * next.
 */
export class SharePuts {
  readonly #inSession: InSession;
  readonly #job: WriteJob;
  readonly #slots = new Semaphore(MOST_PUTS);
  readonly #waiting = new Map<number, Waiting>();
  #puts = 0;
  #serving: Serving | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param options.budget  the rate it keeps to; absent: no limit */
  constructor(inSession: InSession, { budget }: { budget?: RateBudget | undefined } = {}) {
    this.#inSession = inSession;
    this.#job = new WriteJob({ budget, onWake: () => this.#takeNews() });
  }

  /** A session is up. */
  begin(session: GuestSession): void {
    session.carried(this.#job, 0);
    this.#serving = { session, number: this.#job.session };
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** The session is over. Resolves when its lanes are gone, and another may begin. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#serving?.lanes?.close();
    this.#serving = undefined;
    await this.#job.endSession();
  }

  /** Ends every put with `reason`. Idempotent. */
  async close(reason: unknown): Promise<void> {
    clearInterval(this.#timer);
    this.#serving?.lanes?.close();
    this.#serving = undefined;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
    await this.#job.close();
  }

  /** As SourceWrites.put. */
  async put(file: ChangedFile, { signal }: { signal: AbortSignal }): Promise<ShareEntry> {
    signal.throwIfAborted();
    checkSharePath(file.path);
    return this.#slots.run({ signal }, async () => {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        signal.throwIfAborted();
        try {
          return await this.#inSession(signal, (session) => this.#putOnce(session, file, signal));
        } catch (reason) {
          signal.throwIfAborted();
          if (!isBusy(reason)) throw reason;
          await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      }
    });
  }

  async #putOnce(session: GuestSession, file: ChangedFile, signal: AbortSignal): Promise<ShareEntry> {
    const { path, size, mtimeNs, base, token, keep, sync, ranges } = file;
    const opening = {
      path,
      token: Buffer.from(token, 'hex'),
      keep,
      base: base && { size: base.size, mtime: toWireTime(base.mtimeNs) },
    };
    const { handle } = await opened(session, opening, signal);
    try {
      if (ranges.length > 0) await this.#written(session, handle, file, signal);
      const finish = { handle, size, mtime: toWireTime(mtimeNs), sync };
      const { entry } = await session.call(ShareService.commit, finish, { signal });
      return checkedEntry(entry, path.slice(path.lastIndexOf('/') + 1));
    } catch (reason) {
      close(session, handle);
      throw reason;
    }
  }

  async #written(session: GuestSession, handle: number, file: ChangedFile, signal: AbortSignal): Promise<void> {
    const serving = this.#serving;
    // A handle is of its session: in another one the same number may be another file.
    if (serving?.session !== session) throw new KeibiError('SESSION_LOST');
    serving.lanes ??= this.#dial(session);
    const put = this.#number();
    const onAbort = () => this.#waiting.get(put)?.reject(signal.reason);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.set(put, { resolve, reject });
        signal.addEventListener('abort', onAbort, { once: true });
        this.#job.begin(put, serving.number, handle, file);
      });
    } catch (reason) {
      signal.throwIfAborted();
      throw reportedBy(reason);
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (this.#waiting.delete(put)) this.#job.cancel(put);
    }
  }

  #dial(session: GuestSession): GuestLanes {
    const onFailed = (reason: KeibiError) => void session.close(reason);
    const lanes = new GuestLanes(this.#job, session.lanes, onFailed, MOST_LANES);
    lanes.begin();
    return lanes;
  }

  /** A number that no pending put has. */
  #number(): number {
    do this.#puts = (this.#puts + 1) >>> 0;
    while (this.#waiting.has(this.#puts));
    return this.#puts;
  }

  #takeNews(): void {
    const { settled, lanesEnded } = this.#job.takeNews();
    for (const { put, error } of settled) {
      const waiting = this.#waiting.get(put);
      this.#waiting.delete(put);
      if (error === undefined) waiting?.resolve();
      else waiting?.reject(error);
    }
    this.#serving?.lanes?.took(lanesEnded);
  }

  #look(): void {
    this.#job.cutSilent(SILENT_MS);
    this.#serving?.session.carried(this.#job, this.#job.bytes);
  }
}

/**
 * Never aborted: the peer opens the file, and locks out other overlays, in any case. After an abort the handle is closed
 * as soon as it is known.
 */
async function opened(session: GuestSession, request: OpenWriteRequest, signal: AbortSignal): Promise<OpenWriteReply> {
  const opening = session.call(ShareService.openWrite, request, { signal: NEVER });
  try {
    return await within(opening, signal);
  } catch (reason) {
    opening.then(
      ({ handle }) => close(session, handle),
      () => {},
    );
    throw reason;
  }
}

/** The result is ignored: the next put of this overlay closes the handle as well, and so does the session's end. */
function close(session: GuestSession, handle: number): void {
  session.call(ShareService.closeWrite, { handle }, { signal: NEVER }).catch(() => {});
}

/** Another overlay writes the file at the moment, or the peer has too many open. */
function isBusy(reason: unknown): boolean {
  return systemErrorIn(reason) === 'EBUSY' || (reason instanceof KeibiError && reason.code === 'PEER_BUSY');
}

function reportedBy(reason: unknown): KeibiError {
  const { code, errnoName } = reason as { code?: string; errnoName?: string };
  if (code === 'SHARE_CALL_FAILED') return callFailure(errnoName, { cause: reason, remote: true });
  return KeibiError.from(reason, 'INTERNAL');
}
