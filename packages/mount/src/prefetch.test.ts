// SPDX-License-Identifier: MPL-2.0

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CachedFile, WantedBlocks } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shell } from '../test/outside.ts';
import { LocalSource, type Mount, mount } from './index.ts';
import { backendOf } from './usable-backend.ts';

const reason = await backendOf('native').whyNot();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

/** Things that are asked for one after another, of which those from the third on come only when so many have been asked for. */
class Together {
  readonly asked = new Set<string>();
  readonly #number: number;
  #all = () => {};
  readonly #come = new Promise<void>((resolve) => {
    this.#all = resolve;
  });

  constructor(number: number) {
    this.#number = number;
  }

  async come(name: string, signal: AbortSignal): Promise<void> {
    const alone = this.asked.size < 2;
    this.asked.add(name);
    if (this.asked.size >= this.#number) this.#all();
    if (alone) return;
    await Promise.race([
      this.#come,
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ]);
  }
}

class SlowSource extends LocalSource {
  files = new Together(0);
  lists = new Together(0);

  /** Paths whose prefetch was cancelled. */
  readonly left: string[] = [];

  leaveAhead({ path }: CachedFile) {
    this.left.push(path);
  }

  override async want(file: CachedFile, blocks: WantedBlocks, options: { signal: AbortSignal }) {
    await this.files.come(file.path, options.signal);
    return super.want(file, blocks, options);
  }

  override async *list(path: string, options: { signal: AbortSignal }) {
    await this.lists.come(path, options.signal);
    yield* super.list(path, options);
  }
}

const { signal } = new AbortController();
const SUM = 'cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum';

describe.skipIf(reason !== undefined)('a walk over a mounted folder', () => {
  let folder: string;
  let source: SlowSource;
  let shown: Mount;
  const at = () => join(folder, 'mounted');
  const there = (...names: string[]) => join(folder, 'source', ...names);
  const fill = (directory: string, files: number, bytes: number) => {
    mkdirSync(there(directory), { recursive: true });
    for (let i = 0; i < files; i++) writeFileSync(there(directory, `f${100 + i}`), Buffer.alloc(bytes, `${i} `));
  };

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'keibi-walk-')));
    for (const name of ['source', 'cache']) mkdirSync(join(folder, name));
    source = new SlowSource(there());
    shown = await mount({
      source,
      folder: at(),
      cache: join(folder, 'cache'),
      patienceMs: 2000,
      backend: 'native',
      signal,
    });
  });
  afterEach(async () => {
    await shown?.unmount({ force: true });
    await source.close();
    rmSync(folder, { recursive: true });
  });

  it('prefetches the small files of a directory', async () => {
    fill('many', 120, 3000);
    source.files = new Together(20);
    expect(await shell(SUM, join(at(), 'many'))).toBe(await shell(SUM, there('many')));
    expect(source.files.asked.size).toBe(120);
  });

  it('prefetches no long files, and nothing for a single open', async () => {
    fill('many', 50, 3000);
    fill('long', 5, 300_000);
    expect(await shell('cd "$1" && cat many/f120 long/f100 long/f101 | wc -c', at())).toBe('603000');
    expect([...source.files.asked].sort()).toEqual(['long/f100', 'long/f101', 'many/f120']);
  });

  it('cancels the prefetch when its reader jumps, and reports no jump without a prefetch', async () => {
    fill('long', 2, 2 ** 24);
    const jump =
      'exec 3< "$1"; dd bs=64k count=40 status=none <&3 | wc -c; dd bs=64k skip=190 count=1 status=none <&3 | wc -c';
    expect(await shell(jump, join(at(), 'long/f100'))).toBe('2621440\n65536');
    await expect.poll(() => source.left).toEqual(['long/f100']);
    const here = 'for i in 9 200 30; do dd if="$1" bs=64k skip=$i count=1 status=none; done | wc -c';
    expect(await shell(here, join(at(), 'long/f101'))).toBe('196608');
    expect(source.left).toEqual(['long/f100']);
  });

  it('prefetches listings, and the files in them', async () => {
    for (let i = 0; i < 20; i++) fill(`d${100 + i}`, 5, 2000);
    source.lists = new Together(4);
    expect(await shell('find "$1" -type f | wc -l', at())).toBe('100');
    source.files = new Together(20);
    expect(await shell(SUM, at())).toBe(await shell(SUM, there()));
  });

  it('shows the new version after blocks of the old one were prefetched', async () => {
    fill('many', 40, 3000);
    expect(await shell('cd "$1" && cat many/f100 many/f101 | wc -c', at())).toBe('6000');
    await shell('until [ "$(ls "$1" | grep -c data)" -ge 30 ]; do sleep 0.02; done', join(folder, 'cache'));
    fill('many', 40, 3001);
    const same = 'until [ "$(cat "$1"/many/* | sha256sum)" = "$(cat "$2"/many/* | sha256sum)" ]; do sleep 0.02; done';
    expect(await shell(same, at(), there())).toBe('');
  });
});
