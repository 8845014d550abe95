// SPDX-License-Identifier: MPL-2.0

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CachedFile, WantedBlocks } from '@keibidrop/protocol';
import { afterEach, beforeEach, expect } from 'vitest';
import {
  type BackendName,
  type ChangedFile,
  LocalSource,
  type Mount,
  type MountOptions,
  mount,
  type SourceLocks,
  type SourceWrites,
} from '../src/index.ts';
import { shell } from './outside.ts';

export const never = new Promise<never>(() => {});
const { signal } = new AbortController();

/** A folder that is as far away as a test wants it to be. */
export class FarSource extends LocalSource {
  override readonly writes: SourceWrites;
  /** Reads, and puts, wait for these. */
  readsHeld: Promise<unknown> = Promise.resolve();
  putsHeld: Promise<unknown> = Promise.resolve();
  wants = 0;
  puts: ChangedFile[] = [];
  /** As if the source had given up all locks. */
  loseLocks: () => void = () => {};
  /** Requests about names wait for this; `looks` counts them. */
  looksHeld: Promise<unknown> = Promise.resolve();
  looks = 0;

  constructor(path: string) {
    super(path);
    const real = new LocalSource(path).writes as SourceWrites;
    const put: SourceWrites['put'] = async (file, options) => {
      this.puts.push(file);
      await Promise.race([this.putsHeld, aborted(options.signal)]);
      return real.put(file, options);
    };
    const { locks } = real;
    const onLost: SourceLocks['onLost'] = (lost) => {
      this.loseLocks = lost;
      return () => {};
    };
    const own = {
      put,
      locks: locks && new Proxy(locks, { get: (target, name) => (name === 'onLost' ? onLost : bound(target, name)) }),
    };
    this.writes = new Proxy(real, {
      get: (target, name) => (name in own ? Reflect.get(own, name) : bound(target, name)),
    });
  }

  override async stat(path: string, options: { signal: AbortSignal }) {
    await this.#look(options);
    return super.stat(path, options);
  }

  override async *list(path: string, options: { signal: AbortSignal }) {
    await this.#look(options);
    yield* super.list(path, options);
  }

  async #look({ signal }: { signal: AbortSignal }): Promise<void> {
    this.looks++;
    await Promise.race([this.looksHeld, aborted(signal)]);
  }

  override async want(file: CachedFile, blocks: WantedBlocks, options: { signal: AbortSignal }) {
    this.wants++;
    await Promise.race([this.readsHeld, aborted(options.signal)]);
    return super.want(file, blocks, options);
  }

  /** Puts wait until what this returns is called. */
  holdPuts(): () => void {
    let go = () => {};
    this.putsHeld = new Promise<void>((resolve) => {
      go = resolve;
    });
    return go;
  }
}

/** A folder of this machine and its mount, created for each test of a `describe`. */
export class MountedFolder {
  folder = '';
  source!: FarSource;
  shown: Mount | undefined;
  readonly backend: BackendName;

  constructor(backend: BackendName) {
    this.backend = backend;
    beforeEach(() => {
      this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-mount-')));
      for (const name of ['source', 'cache']) mkdirSync(join(this.folder, name));
      this.source = new FarSource(this.there());
    });
    afterEach(async () => {
      this.source.putsHeld = Promise.resolve();
      await this.shown?.unmount({ force: true });
      this.shown = undefined;
      await this.source.close();
      rmSync(this.folder, { recursive: true });
    });
  }

  /** Where it is mounted. */
  at(...names: string[]): string {
    return join(this.folder, 'mounted', ...names);
  }

  /** A path in the mounted source. */
  there(...names: string[]): string {
    return join(this.folder, 'source', ...names);
  }

  get cache(): string {
    return join(this.folder, 'cache');
  }

  async show(more: Partial<MountOptions> = {}): Promise<Mount> {
    const { source, cache, backend } = this;
    this.shown = await mount({ source, folder: this.at(), cache, backend, label: 'me', signal, ...more });
    return this.shown;
  }

  hostPid(): number {
    const found = execFileSync('pgrep', ['-f', `(keibidrop-mount|fuse-native.*) ${this.at()} `], { encoding: 'utf8' });
    return Number(found.split('\n')[0]);
  }

  /** Resolves when a file there holds this. */
  async sent(name: string, text: string): Promise<void> {
    const read = () => existsSync(this.there(name)) && readFileSync(this.there(name), 'utf8');
    await expect.poll(read, { interval: 20 }).toBe(text);
  }
}

/** Runs a program of Node's elsewhere: `fs`, `at` (the folder) and `words` are there. */
export function node(program: string, ...words: string[]): Promise<string> {
  return shell(
    `exec "$1" -e "const fs = require('fs'); const [at, ...words] = process.argv.slice(1); $2" "$3" "$4"`,
    process.execPath,
    program,
    ...words,
  );
}

/** Lists a tree: paths, types, modes, sizes of files, times, targets. Then a digest of all content. */
export const TREE = `cd "$1" && find . -mindepth 1 \\( -type d -printf '%P d %m\\n' -o -printf '%P %y %m %s %T@ %l\\n' \\) | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum`;

function bound(target: object, name: string | symbol): unknown {
  return Reflect.get(target, name).bind(target);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
