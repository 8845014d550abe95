// SPDX-License-Identifier: MPL-2.0
import { rules } from '@keibidrop/proto/mount-host';
import { conflictName } from './conflict-name.ts';
import { type Contents, sameVersion } from './contents.ts';
import { Failure, isFailure } from './failure.ts';
import type { Link } from './link.ts';
import type { OpenFile } from './open-file.ts';
import { OverlayFile } from './overlay-file.ts';
import { nameOf, parentOf, type Tree } from './tree.ts';

const { PUT_PATIENCES, WHOLE_WRITE_BYTES, PUT_BYTES, PUT_RANGES, PUT_AGE_MS } = rules;
const { FIRST_BACKOFF_MS, MOST_BACKOFF_MS, MOST_DIRTY_FILES, MOST_CONFLICTS, DIRECTORY_MODE } = rules;
/** The limit for all files: writes beyond it fail. */
const MOST_UNSENT_BYTES = 2 ** 26;
const TICK_MS = 250;
const COPIED_BYTES = 2 ** 20;

export interface WriteBackOptions {
  link: Link;
  tree: Tree;
  contents: Contents;
  /** Where overlay files are kept. */
  cache: string;
  /** This side's name in the names of conflict copies. */
  label: string;
}

/** The open files, and the upload of their written bytes. */
export class WriteBack {
  readonly #options: WriteBackOptions;
  readonly #files = new Map<string, OpenFile>();
  readonly #timer: NodeJS.Timeout;
  #ticking = false;

  constructor(options: WriteBackOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  get(path: string): OpenFile | undefined {
    return this.#files.get(path);
  }

  /** Those at a path, or below it. */
  below(path: string): OpenFile[] {
    const start = `${path}/`;
    const found = [...this.#files.values()].filter((file) => file.path === path || file.path.startsWith(start));
    return found.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  add(file: OpenFile): OpenFile {
    this.#files.set(file.path, file);
    return file;
  }

  move(file: OpenFile, path: string): void {
    this.#remove(file);
    file.path = path;
    this.add(file);
  }

  /** The file was unlinked, or another one has its name. */
  drop(file: OpenFile): void {
    file.gone = true;
    this.#remove(file);
  }

  async closed(file: OpenFile): Promise<void> {
    if (file.handles.size > 0 || file.unsent) return;
    const { overlay } = file;
    file.overlay = undefined;
    if (this.#files.get(file.path) === file && file.handles.size === 0) this.#files.delete(file.path);
    await this.#letBaseGo(file);
    await overlay?.discard();
  }

  get unsentFiles(): OpenFile[] {
    return [...this.#files.values()].filter(({ unsent }) => unsent);
  }

  /** The overlay of a file; created if missing. Within its turn. @param bare  no byte of the base will be read @throws Failure */
  async overlayOf(file: OpenFile, { bare = false } = {}): Promise<OverlayFile> {
    await this.refresh(file);
    if (file.overlay !== undefined) return file.overlay;
    file.entry = await this.#options.tree.look(file.path);
    if (file.entry.type !== 'file') throw new Failure('ESTALE');
    const overlay = new OverlayFile(this.#options.cache, file.entry);
    // If the file cannot be fetched now, writes are kept all the same.
    if (!bare && file.entry.size <= WHOLE_WRITE_BYTES) await this.#fetch(file, overlay).catch(() => {});
    file.overlay = overlay;
    return overlay;
  }

  /** Drops an overlay without changes if the file there has changed. Within its turn. */
  async refresh(file: OpenFile): Promise<void> {
    const { overlay } = file;
    if (overlay === undefined || overlay.changed || file.gone) return;
    const now = await this.#options.tree.look(file.path);
    if (sameVersion(now, overlay.base)) return;
    file.overlay = undefined;
    await this.#letBaseGo(file);
    await overlay.discard();
  }

  /** Fills a buffer with the file's current bytes. Within its turn. @throws Failure */
  async read(file: OpenFile, overlay: OverlayFile, buffer: Uint8Array, offset: number): Promise<void> {
    const { contents } = this.#options;
    for (const { start, end } of await overlay.read(buffer, offset)) {
      if (file.base !== undefined && !sameVersion(file.base, overlay.base)) await this.#letBaseGo(file);
      file.base ??= contents.open(file.path, overlay.base);
      await contents.read(file.base, file.path, buffer.subarray(start - offset, end - offset), start);
    }
  }

  /** To be called before something is written. Within its turn. @throws Failure: ETIMEDOUT, or why what waits cannot be put */
  async makeRoom(file: OpenFile): Promise<void> {
    const { overlay } = file;
    if (
      overlay !== undefined &&
      (overlay.unsentBytes >= PUT_BYTES || overlay.unsentParts >= PUT_RANGES) &&
      !this.#options.tree.away
    )
      await this.put(file, false);
    const unsent = this.unsentFiles;
    const bytes = unsent.reduce((sum, one) => sum + (one.overlay?.unsentBytes ?? 0), 0);
    if (bytes < MOST_UNSENT_BYTES && unsent.length < MOST_DIRTY_FILES) return;
    throw new Failure('ETIMEDOUT');
  }

  /** Resolves when the written bytes are uploaded, with `sync` when they are on the disk there. Within its turn. @throws Failure */
  async put(file: OpenFile, sync: boolean): Promise<void> {
    const { link, tree } = this.#options;
    const { overlay } = file;
    if (overlay === undefined || file.gone || !(overlay.changed || (sync && !overlay.synced))) return;
    for (let moved = 0; ; moved++) {
      try {
        const entry = await link.askEntry(await overlay.put(file.path, sync), { patiences: PUT_PATIENCES });
        overlay.done(entry, sync);
        file.entry = entry;
        file.backoffMs = file.since = 0;
        return tree.changed(file.path, entry);
      } catch (reason) {
        if (moved > 2 || !isFailure(reason, 'ESTALE', 'ENOENT')) throw this.#later(file, reason);
        tree.doubt(file.path);
        await (isFailure(reason, 'ESTALE') ? this.#keepBoth(file, overlay) : this.#makeAgain(file, overlay)).catch(
          (failure) => {
            throw this.#later(file, failure);
          },
        );
      }
    }
  }

  /** Puts all unsent files. @returns  how many could not be put */
  async drain(patienceMs: number): Promise<number> {
    const until = Date.now() + patienceMs;
    for (;;) {
      const left = this.unsentFiles;
      if (left.length === 0 || this.#options.tree.away || Date.now() >= until) return left.length;
      const late = new Promise((resolve) => setTimeout(resolve, until - Date.now()).unref());
      await Promise.race([late, Promise.all(left.map((file) => this.#putNow(file)))]);
      if (this.unsentFiles.length > 0 && Date.now() < until)
        await new Promise((resolve) => setTimeout(resolve, FIRST_BACKOFF_MS).unref());
    }
  }

  /** Leaves the overlay files that could not be sent to the daemon. @returns  how many there are */
  async leaveUnsent(): Promise<number> {
    const files = this.unsentFiles;
    for (const { overlay, path } of files) {
      const left = await overlay?.leave().catch(() => undefined);
      if (left !== undefined) this.#options.link.report({ type: 'unsent', ...left, path });
    }
    return files.length;
  }

  /** The peer is back. */
  retry(): void {
    for (const file of this.unsentFiles) file.retryAt = 0;
    void this.#tick();
  }

  async #tick(): Promise<void> {
    if (this.#ticking || this.#options.tree.away) return;
    this.#ticking = true;
    const now = Date.now();
    const due = this.unsentFiles.filter(
      ({ since, handles, retryAt }) => now >= retryAt && (handles.size === 0 || now - since >= PUT_AGE_MS),
    );
    await Promise.all(due.map((file) => this.#putNow(file)));
    this.#ticking = false;
  }

  async #putNow(file: OpenFile): Promise<void> {
    const { patienceMs } = this.#options.link;
    await file.run(patienceMs, () => this.put(file, false)).catch(() => {});
    await this.closed(file).catch(() => {});
  }

  #later(file: OpenFile, reason: unknown): unknown {
    file.backoffMs = Math.min(Math.max(file.backoffMs * 2, FIRST_BACKOFF_MS), MOST_BACKOFF_MS);
    file.retryAt = Date.now() + file.backoffMs;
    return reason;
  }

  /** Keeps the other's version in place and puts ours beside it. */
  async #keepBoth(file: OpenFile, overlay: OverlayFile): Promise<void> {
    const { link, tree, label } = this.#options;
    const folder = parentOf(file.path);
    for (let number = 1; number <= MOST_CONFLICTS; number++) {
      const name = conflictName(nameOf(file.path), { label, number });
      const aside = folder === '' ? name : `${folder}/${name}`;
      try {
        const copy = await link.askEntry({ type: 'copy', from: file.path, to: aside }, { patiences: PUT_PATIENCES });
        overlay.moveTo(copy, { beside: true });
        await this.#letBaseGo(file);
        this.move(file, aside);
        return tree.made(aside, copy);
      } catch (reason) {
        if (isFailure(reason, 'ENOENT')) return this.#makeAgain(file, overlay);
        if (!isFailure(reason, 'EEXIST')) throw reason;
      }
    }
    throw new Failure('EIO');
  }

  /** The file was removed there: creates it again for our unsent bytes. */
  async #makeAgain(file: OpenFile, overlay: OverlayFile): Promise<void> {
    const { link, tree } = this.#options;
    const make = (kind: 'file' | 'directory', mode: number, path: string) =>
      link.askEntry({ type: 'make', kind, mode, path, target: '' });
    const again = () => make('file', file.entry.mode, file.path);
    const made = await again().catch(async (reason) => {
      if (!isFailure(reason, 'ENOENT') || parentOf(file.path) === '') throw reason;
      const names = parentOf(file.path).split('/');
      for (let count = 1; count <= names.length; count++) {
        await make('directory', DIRECTORY_MODE, names.slice(0, count).join('/')).catch((failure) => {
          if (!isFailure(failure, 'EEXIST')) throw failure;
        });
      }
      tree.doubt('');
      return again();
    });
    overlay.moveTo(made, { beside: false });
    await this.#letBaseGo(file);
    tree.made(file.path, made);
  }

  async #fetch(file: OpenFile, overlay: OverlayFile): Promise<void> {
    const { contents } = this.#options;
    const content = contents.open(file.path, overlay.base);
    try {
      const buffer = Buffer.alloc(Math.min(overlay.base.size, COPIED_BYTES));
      for (let offset = 0; offset < overlay.base.size; offset += COPIED_BYTES) {
        const part = buffer.subarray(0, Math.min(COPIED_BYTES, overlay.base.size - offset));
        await contents.read(content, file.path, part, offset);
        await overlay.write(part, offset, { fetched: true });
      }
    } finally {
      await contents.close(content, { kept: false });
    }
  }

  async #letBaseGo(file: OpenFile): Promise<void> {
    const { base } = file;
    file.base = undefined;
    if (base !== undefined) await this.#options.contents.close(base, { kept: false });
  }

  #remove(file: OpenFile): void {
    if (this.#files.get(file.path) === file) this.#files.delete(file.path);
  }
}
