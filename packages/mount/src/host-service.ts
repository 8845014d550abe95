// SPDX-License-Identifier: MPL-2.0
import { KeibiError, PageWriter, TOP } from '@keibidrop/protocol';
import { encodeChanges, encodeDone, encodeEntries, encodeFlag, type FromHost } from './host-message.ts';
import type { HostProcess } from './host-process.ts';
import type { MountSource, SourceEntry, WantedFile } from './mount-source.ts';
import { systemErrorOf } from './system-error.ts';

export interface HostServiceOptions {
  host: HostProcess;
  source: MountSource;
  folder: string;
  cache: string;
  patienceMs: number;
}

/** A directory may take longer than what is one answer: parts of it come all the while. */
const LIST_PATIENCE = 10;
/** For a host that does not go when it is told to. */
const LEAVE_MS = 5000;

/** Answers what a mount host asks, from a source, for as long as the host runs. */
export class HostService {
  /** Resolves when the host has ended by itself or by `unmount`, rejects when it was killed or broke. */
  readonly closed: Promise<void>;
  readonly #options: HostServiceOptions;
  readonly #over = new AbortController();
  #mounted: () => void = () => {};
  #failed: (reason: unknown) => void = () => {};
  #busy: () => void = () => {};
  readonly #up: Promise<void>;
  #leaving = false;

  constructor(options: HostServiceOptions) {
    this.#options = options;
    this.#up = new Promise((resolve, reject) => {
      this.#mounted = resolve;
      this.#failed = reject;
    });
    this.#up.catch(() => {});
    this.closed = this.#run();
    this.closed.catch(() => {});
  }

  /** Resolves once the folder is there. @throws MOUNT_UNAVAILABLE; `signal.reason` on abort */
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

  /** @throws MOUNT_BUSY */
  async unmount(force: boolean): Promise<void> {
    const busy = new Promise<'busy'>((resolve) => {
      this.#busy = () => resolve('busy');
    });
    this.#leaving = true;
    this.#tell(encodeFlag('unmount', force));
    const late = setTimeout(() => this.#options.host.kill(), LEAVE_MS);
    try {
      if ((await Promise.race([this.closed.catch(() => {}), busy])) !== 'busy') return;
      this.#leaving = false;
      throw new KeibiError('MOUNT_BUSY', `${this.#options.folder} is in use. Close what uses it, or add --force.`);
    } finally {
      clearTimeout(late);
    }
  }

  async #run(): Promise<void> {
    const { host } = this.#options;
    const broken = await this.#serve();
    this.#over.abort(new KeibiError('CANCELLED'));
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
        return this.#busy();
      case 'release':
        return this.#options.source.release(this.#forget(message.key));
      case 'list':
        return this.#answer(message.request, LIST_PATIENCE, (signal) => this.#list(message, signal));
      case 'look':
        return this.#answer(message.request, 1, (signal) => this.#look(message, signal));
      case 'want':
        return this.#answer(message.request, 1, (signal) => this.#want(message, signal));
      case 'space':
        return this.#answer(message.request, 1, (signal) => this.#space(message, signal));
    }
  }

  /** Which contents were wanted, by key: the host names what it releases by that alone. */
  readonly #wanted = new Map<string, WantedFile>();

  #forget(key: string): WantedFile {
    const file = this.#wanted.get(key) ?? { path: '', size: 0, mtimeNs: 0n, directory: this.#options.cache, key };
    this.#wanted.delete(key);
    return file;
  }

  async #list({ request, path }: FromHost & { type: 'list' | 'look' }, signal: AbortSignal): Promise<Buffer> {
    const page = new PageWriter();
    for await (const { entries } of this.#options.source.list(path, { signal })) {
      for (const [i, entry] of entries.entries()) {
        if (page.tryAdd(entryOf(entry), i)) continue;
        await this.#options.host.send(encodeEntries(request, page.take()), { signal });
        page.tryAdd(entryOf(entry), i);
      }
      if (page.entries > 0) await this.#options.host.send(encodeEntries(request, page.take()), { signal });
    }
    return encodeDone(request, 0);
  }

  async #look({ request, path }: FromHost & { type: 'list' | 'look' }, signal: AbortSignal): Promise<Buffer> {
    const page = new PageWriter();
    page.tryAdd(entryOf(await this.#options.source.stat(path, { signal })), 0);
    this.#tell(encodeEntries(request, page.take()));
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

  async #space({ request }: FromHost & { type: 'space' }, signal: AbortSignal): Promise<Buffer> {
    const space = await this.#options.source.space?.({ signal });
    return encodeDone(request, 0, BigInt(space?.totalBytes ?? 0), BigInt(space?.freeBytes ?? 0));
  }

  /** Does work and sends what it says, or why it failed. */
  async #answer(request: number, patience: number, work: (signal: AbortSignal) => Promise<Buffer>): Promise<void> {
    // The host has told the kernel something else by then.
    const late = AbortSignal.timeout(this.#options.patienceMs * patience);
    const signal = AbortSignal.any([this.#over.signal, late]);
    try {
      this.#tell(await work(signal));
    } catch (reason) {
      this.#tell(encodeDone(request, systemErrorOf(late.aborted ? late.reason : reason)));
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
      // The source has ended, or never told anything: what is known is looked at again from now on.
    }
    this.#tell(encodeFlag('watched', false));
  }

  #tell(message: Buffer): void {
    void this.#options.host.send(message, this.#over);
  }
}

function entryOf({ type, name, size, mtimeNs, mode, target }: SourceEntry) {
  return { type, parent: TOP, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}
