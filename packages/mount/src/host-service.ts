// SPDX-License-Identifier: MPL-2.0
import { setMaxListeners } from 'node:events';
import {
  encodeMakeAnswer,
  encodeSpaceAnswer,
  encodeWantAnswer,
  type FromHost,
  rules,
} from '@keibidrop/proto/mount-host';
import { type CachedFile, KeibiError, PageWriter } from '@keibidrop/protocol';
import { HostLocks } from './host-locks.ts';
import {
  changesMessage,
  doneMessage,
  type FetchRequest,
  failedMessage,
  flagMessage,
  type ListRequest,
  pageMessage,
  type UnsentReport,
  type WantRequest,
} from './host-messages.ts';
import type { HostProcess } from './host-process.ts';
import { applyChange, manifestEntryOf, pageOf, patienceOf } from './host-writes.ts';
import type { MountSource, SourceWrites } from './mount-source.ts';
import { systemErrorOf } from './system-error.ts';
import { keepUnsent, type Unsent } from './unsent-files.ts';

export interface HostServiceOptions {
  host: HostProcess;
  source: MountSource;
  /** Absent: read-only. */
  writes: SourceWrites | undefined;
  folder: string;
  cache: string;
  patienceMs: number;
}

/** Part of the timeout: the source must give up a request before the host fails it for the kernel. */
const SOONER = 0.95;
/** How long to wait for a host that was asked to leave. */
const LEAVE_MS = 10_000;

/** Answers a mount host's requests from a source, for as long as the host runs. */
export class HostService {
  /** Resolves when the host has ended by itself or by `unmount`, rejects when it was killed or broke. */
  readonly closed: Promise<void>;
  readonly #options: HostServiceOptions;
  readonly #over = new AbortController();
  #mounted: () => void = () => {};
  #failed: (reason: unknown) => void = () => {};
  #busy: (unsent: number) => void = () => {};
  /** The number of files that could not be sent, and those of them that the host has left in the cache. */
  #unsent = 0;
  readonly #left: UnsentReport[] = [];
  #late: NodeJS.Timeout | undefined;
  readonly #up: Promise<void>;
  readonly #locks: HostLocks;
  #leaving = false;

  constructor(options: HostServiceOptions) {
    this.#options = options;
    this.#up = new Promise((resolve, reject) => {
      this.#mounted = resolve;
      this.#failed = reject;
    });
    this.#up.catch(() => {});
    const { host, writes } = options;
    this.#locks = new HostLocks(writes?.locks, (message) => host.queue(message));
    this.closed = this.#run();
    this.closed.catch(() => {});
  }

  /** Resolves once the folder is mounted. @throws MOUNT_UNAVAILABLE; `signal.reason` on abort */
  async begin({ signal }: { signal: AbortSignal }): Promise<void> {
    const onAbort = () => {
      this.#leaving = true;
      this.#failed(signal.reason);
      this.#options.host.close();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#up;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    void this.#watch();
  }

  setAway(away: boolean): void {
    this.#send(flagMessage('away', away));
  }

  /**
   * Resolves when the host has ended, which with `force` it does even if files could not be sent.
   *
   * @throws MOUNT_BUSY
   */
  async unmount(force: boolean): Promise<void> {
    const busy = new Promise<{ unsent: number }>((resolve) => {
      this.#busy = (unsent) => resolve({ unsent });
    });
    this.#leaving = true;
    this.#send(flagMessage('unmount', force));
    // The host sends the written bytes before it leaves.
    this.#late = setTimeout(() => this.#options.host.kill(), LEAVE_MS + (force ? 0 : this.#options.patienceMs));
    try {
      const refused = await Promise.race([this.closed.then(nothing, nothing), busy]);
      if (refused === undefined) return;
      this.#leaving = false;
      const { unsent } = refused;
      throw new KeibiError('MOUNT_BUSY', busyText(this.#options.folder, unsent), { detail: { unsent } });
    } finally {
      clearTimeout(this.#late);
    }
  }

  /** Moves files that the host could not send out of the cache. Call it once, after the host has ended. */
  async keepUnsent(): Promise<Unsent> {
    const { cache, folder } = this.#options;
    return { unsent: this.#unsent, keptIn: await keepUnsent(this.#left, { cache, folder }) };
  }

  async #run(): Promise<void> {
    const { host } = this.#options;
    const broken = await this.#serve();
    this.#over.abort(new KeibiError('CANCELLED'));
    for (const stop of this.#answering.values()) stop.abort(this.#over.signal.reason);
    this.#locks.close();
    const code = await host.closed;
    const ended = new KeibiError(
      'MOUNT_UNAVAILABLE',
      `The mount host has ended (${code}). ${host.stderr}`.trim(),
      broken,
    );
    this.#failed(broken?.cause ?? ended);
    if (broken !== undefined || (code !== 0 && !this.#leaving)) throw ended;
  }

  /** Serves until the host closes its end. @returns  its protocol error, if one ended it */
  async #serve(): Promise<{ cause: unknown } | undefined> {
    const { host } = this.#options;
    try {
      for await (const message of host.messages()) void this.#handle(message);
      return undefined;
    } catch (cause) {
      host.kill();
      return { cause };
    }
  }

  async #handle(message: FromHost): Promise<void> {
    switch (message.type) {
      case 'mounted':
        return this.#mounted();
      case 'failed':
        return this.#failed(
          new KeibiError(
            'MOUNT_UNAVAILABLE',
            `${this.#options.folder} cannot be mounted: ${message.reason}. ${this.#options.host.stderr}`.trim(),
          ),
        );
      case 'busy':
        return this.#busy(message.unsent);
      case 'lost':
        this.#unsent += message.unsent;
        return;
      case 'unsent':
        this.#left.push(message);
        this.#late?.refresh();
        return;
      case 'stop':
        return this.#answering.get(message.stopped)?.abort(new KeibiError('CANCELLED'));
      case 'release':
        return this.#options.source.release(this.#forget(message.key));
      case 'leave':
        return this.#leaveAhead(message.key);
      case 'list':
        return this.#answer(message.request, rules.PAGE_PATIENCES, (signal) => this.#list(message, signal));
      case 'look':
        return this.#answer(message.request, 1, (signal) => this.#look(message, signal));
      case 'want':
        return this.#answer(message.request, 1, (signal) => this.#want(message, signal));
      case 'fetch':
        return this.#answer(message.request, 1, (signal) => this.#fetch(message, signal));
      case 'space':
        return this.#answer(message.request, 1, (signal) => this.#space(message, signal));
      case 'lock':
      case 'testLock':
      case 'unlock':
        return this.#answer(message.request, 1, (signal) => this.#locks.answer(message, signal));
    }
    const { writes, cache } = this.#options;
    await this.#answer(message.request, patienceOf(message), async (signal) => {
      const { page, directoryMtimeNs } = await applyChange(writes, message, { cache, signal });
      const answer = directoryMtimeNs === undefined ? undefined : encodeMakeAnswer({ directoryMtimeNs });
      if (page !== undefined) this.#options.host.queue(pageMessage(message.request, page));
      return doneMessage(message.request, answer);
    });
  }

  /** The requests being answered, by number. */
  readonly #answering = new Map<number, AbortController>();

  /** The wanted contents by key: the host names only the key when it releases one. */
  readonly #wanted = new Map<string, CachedFile>();

  #forget(key: string): CachedFile {
    const file = this.#wanted.get(key) ?? { path: '', size: 0, mtimeNs: 0n, directory: this.#options.cache, key };
    this.#wanted.delete(key);
    return file;
  }

  #leaveAhead(key: string): void {
    const file = this.#wanted.get(key);
    if (file !== undefined) this.#options.source.leaveAhead?.(file);
  }

  async #list({ request, path }: ListRequest, signal: AbortSignal): Promise<Buffer> {
    const page = new PageWriter();
    for await (const { entries } of this.#options.source.list(path, { signal })) {
      for (const [i, entry] of entries.entries()) {
        if (page.tryAdd(manifestEntryOf(entry), i)) continue;
        await this.#options.host.send(pageMessage(request, page.take()), { signal });
        page.tryAdd(manifestEntryOf(entry), i);
      }
      if (page.entries > 0) await this.#options.host.send(pageMessage(request, page.take()), { signal });
    }
    return doneMessage(request);
  }

  async #look({ request, path }: ListRequest, signal: AbortSignal): Promise<Buffer> {
    const page = pageOf(await this.#options.source.stat(path, { signal }));
    this.#options.host.queue(pageMessage(request, page));
    return doneMessage(request);
  }

  async #want({ request, first, count, ahead, ...named }: WantRequest, signal: AbortSignal): Promise<Buffer> {
    const { type: _, ...content } = named;
    const file = { ...content, directory: this.#options.cache };
    this.#wanted.set(file.key, file);
    const { aheadBlocks } = await this.#options.source.want(file, { first, count, ahead }, { signal });
    return doneMessage(request, encodeWantAnswer({ aheadBlocks }));
  }

  /** Fetches whole files ahead of their readers: a failure is reported only to the later read. */
  async #fetch({ request, files }: FetchRequest, signal: AbortSignal): Promise<Buffer> {
    const { source, cache } = this.#options;
    setMaxListeners(0, signal);
    const fetched = files.map(async (content) => {
      const file = { ...content, directory: cache };
      const count = Math.ceil(file.size / rules.CACHE_BLOCK_BYTES);
      this.#wanted.set(file.key, file);
      await source.want(file, { first: 0, count: 0, ahead: count }, { signal });
      await source.want(file, { first: 0, count, ahead: 0 }, { signal });
    });
    await Promise.allSettled(fetched);
    return doneMessage(request);
  }

  async #space({ request }: { request: number }, signal: AbortSignal): Promise<Buffer> {
    const space = await this.#options.source.space?.({ signal });
    return doneMessage(request, encodeSpaceAnswer(space ?? { totalBytes: 0, freeBytes: 0 }));
  }

  /**
   * Sends the result of work, or its errno. One timer and one signal: a thousand calls a second leave nothing of either behind, as
   * signals of `AbortSignal.timeout` do until their time is over.
   */
  async #answer(request: number, patience: number, work: (signal: AbortSignal) => Promise<Buffer>): Promise<void> {
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(tooLate()), this.#options.patienceMs * patience * SOONER);
    this.#answering.set(request, stop);
    if (this.#over.signal.aborted) stop.abort(this.#over.signal.reason);
    try {
      this.#options.host.queue(await work(stop.signal));
    } catch (reason) {
      this.#options.host.queue(
        failedMessage(request, systemErrorOf(isTooLate(stop.signal.reason) ? stop.signal.reason : reason)),
      );
    } finally {
      clearTimeout(late);
      this.#answering.delete(request);
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    try {
      let watched: boolean | undefined;
      for await (const { changes, lookAgain, incomplete } of this.#options.source.watch({ signal })) {
        if (lookAgain || watched !== !incomplete) this.#send(flagMessage('watched', !incomplete));
        watched = !incomplete;
        if (changes.length > 0) this.#send(changesMessage(changes));
      }
    } catch {
      // The source has ended, or never sent a notice: changes are not reported from now on.
    }
    this.#send(flagMessage('watched', false));
  }

  /** Sent at once: the next request may depend on it. */
  #send(message: Buffer): void {
    void this.#options.host.send(message, this.#over);
  }
}

const nothing = () => undefined;

function tooLate(): DOMException {
  return new DOMException('The other peer has not answered in time.', 'TimeoutError');
}

function isTooLate(reason: unknown): boolean {
  return (reason as { name?: unknown } | undefined)?.name === 'TimeoutError';
}

function busyText(folder: string, unsent: number): string {
  if (unsent === 0) return `${folder} is in use. Close what uses it, or add --force.`;
  return `${folder}: ${unsent} changed files could not be sent to the other peer yet. Wait until it is there, or put them aside with --force.`;
}
