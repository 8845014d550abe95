// SPDX-License-Identifier: MPL-2.0
import { setMaxListeners } from 'node:events';
import { KeibiError, PageWriter } from '@keibidrop/protocol';
import { HostLocks } from './host-locks.ts';
import { encodeChanges, encodeDone, encodeFlag, encodePage, type FromHost } from './host-message.ts';
import type { HostProcess } from './host-process.ts';
import { applyChange, manifestEntryOf, pageOf, patienceOf } from './host-writes.ts';
import type { MountSource, SourceWrites, WantedFile } from './mount-source.ts';
import { systemErrorOf } from './system-error.ts';

export interface HostServiceOptions {
  host: HostProcess;
  source: MountSource;
  /** Absent: read-only. */
  writes: SourceWrites | undefined;
  folder: string;
  cache: string;
  patienceMs: number;
}

/** A directory may take longer than a single answer, since its parts arrive all the while. */
const LIST_PATIENCE = 10;
/** The block size of cached files (native/src/remote/cache_file.h). */
const CACHE_BLOCK_BYTES = 2 ** 16;
/** Part of the timeout: the source must give up a request before the host fails it for the kernel. */
const SOONER = 0.95;
/** How long to wait for a host that was asked to leave. */
const LEAVE_MS = 5000;

/** Answers a mount host's requests from a source, for as long as the host runs. */
export class HostService {
  /** Resolves when the host has ended by itself or by `unmount`, rejects when it was killed or broke. */
  readonly closed: Promise<void>;
  readonly #options: HostServiceOptions;
  readonly #over = new AbortController();
  #mounted: () => void = () => {};
  #failed: (reason: unknown) => void = () => {};
  #busy: (unsent: number) => void = () => {};
  /** Files whose changes were discarded unsent. */
  #lost = 0;
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
    this.#locks = new HostLocks(writes?.locks, (message) => host.tell(message));
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
    this.#tell(encodeFlag('away', away));
  }

  /**
   * @returns  how many files with changes were given up before they were sent: none without `force`
   * @throws   MOUNT_BUSY
   */
  async unmount(force: boolean): Promise<number> {
    const busy = new Promise<{ unsent: number }>((resolve) => {
      this.#busy = (unsent) => resolve({ unsent });
    });
    this.#leaving = true;
    this.#tell(encodeFlag('unmount', force));
    // The host sends what was written before it leaves.
    const late = setTimeout(() => this.#options.host.kill(), LEAVE_MS + (force ? 0 : this.#options.patienceMs));
    try {
      const refused = await Promise.race([this.closed.then(nothing, nothing), busy]);
      if (refused === undefined) return this.#lost;
      this.#leaving = false;
      const { unsent } = refused;
      throw new KeibiError('MOUNT_BUSY', busyText(this.#options.folder, unsent), { detail: { unsent } });
    } finally {
      clearTimeout(late);
    }
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
      `The mount host has ended (${code}). ${host.said}`.trim(),
      broken,
    );
    this.#failed(broken?.cause ?? ended);
    if (broken !== undefined || (code !== 0 && !this.#leaving)) throw ended;
  }

  /** Until the host says no more. @returns  what of it made no sense, and so ended it */
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
            `${this.#options.folder} cannot be mounted: ${message.reason}. ${this.#options.host.said}`.trim(),
          ),
        );
      case 'busy':
        return this.#busy(message.unsent);
      case 'lost':
        this.#lost += message.unsent;
        return;
      case 'stop':
        return this.#answering.get(message.request)?.abort(new KeibiError('CANCELLED'));
      case 'release':
        return this.#options.source.release(this.#forget(message.key));
      case 'leave':
        return this.#leaveAhead(message.key);
      case 'list':
        return this.#answer(message.request, LIST_PATIENCE, (signal) => this.#list(message, signal));
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
      if (page !== undefined) this.#options.host.tell(encodePage(message.request, page));
      return encodeDone(message.request, 0, ...(directoryMtimeNs === undefined ? [] : [directoryMtimeNs]));
    });
  }

  /** The requests being answered, by number. */
  readonly #answering = new Map<number, AbortController>();

  /** The wanted contents by key: the host names only the key when it releases one. */
  readonly #wanted = new Map<string, WantedFile>();

  #forget(key: string): WantedFile {
    const file = this.#wanted.get(key) ?? { path: '', size: 0, mtimeNs: 0n, directory: this.#options.cache, key };
    this.#wanted.delete(key);
    return file;
  }

  #leaveAhead(key: string): void {
    const file = this.#wanted.get(key);
    if (file !== undefined) this.#options.source.leaveAhead?.(file);
  }

  async #list({ request, path }: FromHost & { type: 'list' | 'look' }, signal: AbortSignal): Promise<Buffer> {
    const page = new PageWriter();
    for await (const { entries } of this.#options.source.list(path, { signal })) {
      for (const [i, entry] of entries.entries()) {
        if (page.tryAdd(manifestEntryOf(entry), i)) continue;
        await this.#options.host.send(encodePage(request, page.take()), { signal });
        page.tryAdd(manifestEntryOf(entry), i);
      }
      if (page.entries > 0) await this.#options.host.send(encodePage(request, page.take()), { signal });
    }
    return encodeDone(request, 0);
  }

  async #look({ request, path }: FromHost & { type: 'list' | 'look' }, signal: AbortSignal): Promise<Buffer> {
    const page = pageOf(await this.#options.source.stat(path, { signal }));
    this.#options.host.tell(encodePage(request, page));
    return encodeDone(request, 0);
  }

  async #want(
    { request, first, count, ahead, ...named }: FromHost & { type: 'want' },
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { type: _, ...content } = named;
    const file = { ...content, directory: this.#options.cache };
    this.#wanted.set(file.key, file);
    const { aheadBlocks } = await this.#options.source.want(file, { first, count, ahead }, { signal });
    return encodeDone(request, 0, aheadBlocks);
  }

  /** Fetches whole files ahead of their readers: a failure is reported only to the later read. */
  async #fetch({ request, files }: FromHost & { type: 'fetch' }, signal: AbortSignal): Promise<Buffer> {
    const { source, cache } = this.#options;
    setMaxListeners(0, signal);
    const fetched = files.map(async (content) => {
      const file = { ...content, directory: cache };
      const count = Math.ceil(file.size / CACHE_BLOCK_BYTES);
      this.#wanted.set(file.key, file);
      await source.want(file, { first: 0, count: 0, ahead: count }, { signal });
      await source.want(file, { first: 0, count, ahead: 0 }, { signal });
    });
    await Promise.allSettled(fetched);
    return encodeDone(request, 0);
  }

  async #space({ request }: FromHost & { type: 'space' }, signal: AbortSignal): Promise<Buffer> {
    const space = await this.#options.source.space?.({ signal });
    return encodeDone(request, 0, BigInt(space?.totalBytes ?? 0), BigInt(space?.freeBytes ?? 0));
  }

  /**
   * Does work and sends what it says, or why it failed. One timer and one signal: a thousand calls a second leave nothing of either behind, as
   * signals of `AbortSignal.timeout` do until their time is over.
   */
  async #answer(request: number, patience: number, work: (signal: AbortSignal) => Promise<Buffer>): Promise<void> {
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(tooLate()), this.#options.patienceMs * patience * SOONER);
    this.#answering.set(request, stop);
    if (this.#over.signal.aborted) stop.abort(this.#over.signal.reason);
    try {
      this.#options.host.tell(await work(stop.signal));
    } catch (reason) {
      this.#options.host.tell(
        encodeDone(request, systemErrorOf(isTooLate(stop.signal.reason) ? stop.signal.reason : reason)),
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
        if (lookAgain || watched !== !incomplete) this.#tell(encodeFlag('watched', !incomplete));
        watched = !incomplete;
        if (changes.length > 0) this.#tell(encodeChanges(changes));
      }
    } catch {
      // The source has ended, or never sent a notice: changes are not reported from now on.
    }
    this.#tell(encodeFlag('watched', false));
  }

  /** Sent at once: the next request may depend on it. */
  #tell(message: Buffer): void {
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
  return `${folder}: ${unsent} changed files could not be sent to the other peer yet. Wait until it is there, or give them up with --force.`;
}
