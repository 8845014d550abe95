// SPDX-License-Identifier: MPL-2.0
import { constants } from 'node:fs';
import { decodeSpaceAnswer } from '@keibidrop/proto/mount-host';
import type { FileVersion, ShareEntry } from '@keibidrop/protocol';
import { type Contents, sameVersion } from './contents.ts';
import { Failure, isFailure } from './failure.ts';
import type { Operations, Stat } from './fuse.ts';
import type { Link } from './link.ts';
import { type Handle, OpenFile } from './open-file.ts';
import { nameOf, parentOf, type Tree } from './tree.ts';
import type { WriteBack } from './write-back.ts';

const TYPE_BITS = { file: constants.S_IFREG, directory: constants.S_IFDIR, symlink: constants.S_IFLNK } as const;
const PERMISSIONS = 0o777;
const MOST_NAME_BYTES = 255;
const MOST_TARGET_BYTES = 4095;
/** The suffix of partial files: they cannot be created here. */
const STAGING_NAME = '.keibidrop-partial';
/** The replacement for bytes that are not UTF-8. */
const UNREADABLE = '\ufffd';
const NO_OWNER = 0xffff_ffff;
const CHANGE_MODE = 1;
const CHANGE_MTIME = 2;
const XATTR_CREATE = 1;
const XATTR_REPLACE = 2;
const NS_PER_MS = 1_000_000n;
const ATTEMPTS = 3;
/** The addon takes handles up to this; 0 is not one. */
const MOST_HANDLES = 0x7fff_ffff;

export interface FolderOptions {
  link: Link;
  tree: Tree;
  contents: Contents;
  writeBack: WriteBack;
}

/** Answers the kernel's requests from the tree, the cache and the other peer. */
export class Folder implements Operations {
  readonly #link: Link;
  readonly #tree: Tree;
  readonly #contents: Contents;
  readonly #files: WriteBack;
  readonly #handles = new Map<number, Handle>();
  #next = 1;

  constructor({ link, tree, contents, writeBack }: FolderOptions) {
    this.#link = link;
    this.#tree = tree;
    this.#contents = contents;
    this.#files = writeBack;
  }

  async getattr(given: string, handle: number | undefined): Promise<Stat> {
    const file = this.#handles.get(handle ?? 0)?.file ?? this.#files.get(pathOf(given));
    const path = file?.path ?? checkedPath(given);
    const entry = file?.gone
      ? file.entry
      : await this.#tree.look(path).catch((reason) => {
          // It was removed there, and will be made again.
          if (file?.unsent && isFailure(reason, 'ENOENT')) return file.entry;
          throw reason;
        });
    const { overlay } = file ?? {};
    return statOf(
      overlay?.changed || file?.gone ? { ...entry, ...(overlay && versionOf(overlay)) } : entry,
      file?.gone,
    );
  }

  async readdir(given: string): Promise<{ name: string; stat: Stat }[]> {
    const here = { type: 'directory', name: '', size: 0, mtimeNs: 0n, mode: 0o755 } as const;
    const dots = ['.', '..'].map((name) => ({ name, stat: statOf(here) }));
    const entries = await this.#tree.list(pathOf(given));
    return [...dots, ...entries.map((entry) => ({ name: entry.name, stat: statOf(entry) }))];
  }

  async readlink(given: string): Promise<string> {
    const { target } = await this.#tree.look(pathOf(given));
    if (target === undefined) throw new Failure('EINVAL');
    return target;
  }

  async open(given: string, _flags: number): Promise<number> {
    const path = pathOf(given);
    const known = this.#files.get(path);
    if (known?.unsent) return this.#opened(known);
    const entry = await this.#tree.look(path);
    if (entry.type !== 'file') throw new Failure(entry.type === 'directory' ? 'EISDIR' : 'ELOOP');
    return this.#opened(this.#files.get(path) ?? this.#files.add(new OpenFile(path, entry)));
  }

  async create(given: string, mode: number): Promise<number> {
    const path = newPath(given);
    const entry = await this.#make('file', path, mode, '');
    const before = this.#files.get(path);
    if (before !== undefined) this.#files.drop(before);
    return this.#opened(this.#files.add(new OpenFile(path, entry)));
  }

  async read(number: number, buffer: Buffer, offset: number): Promise<number> {
    const handle = this.#handle(number);
    const { file } = handle;
    if (file.overlay === undefined) return this.#readContent(handle, buffer, offset);
    return file.run(this.#link.patienceMs, async () => {
      await this.#files.refresh(file);
      const { overlay } = file;
      if (overlay === undefined) return this.#readContent(handle, buffer, offset);
      const part = buffer.subarray(0, Math.max(Math.min(buffer.length, overlay.size - offset), 0));
      await this.#files.read(file, overlay, part, offset);
      for (const one of file.handles) one.seen = versionOf(overlay.base);
      return part.length;
    });
  }

  async write(number: number, bytes: Buffer, offset: number): Promise<number> {
    const { file } = this.#handle(number);
    return file.run(this.#link.patienceMs, async () => {
      await this.#files.makeRoom(file);
      const overlay = await this.#files.overlayOf(file);
      if (!overlay.changed) file.since = Date.now();
      await overlay.write(bytes, offset);
      return bytes.length;
    });
  }

  async truncate(given: string, size: number, handle: number | undefined): Promise<void> {
    const path = pathOf(given);
    const open = this.#handles.get(handle ?? 0)?.file ?? this.#files.get(path);
    const file = open ?? this.#files.add(new OpenFile(path, await this.#tree.look(path)));
    await file.run(this.#link.patienceMs, async () => {
      const overlay = await this.#files.overlayOf(file, { bare: size === 0 });
      if (overlay.size === size) return;
      if (!overlay.changed) file.since = Date.now();
      await overlay.truncate(size);
      // No close will follow.
      if (file.handles.size === 0) await this.#files.put(file, false);
    });
    await this.#files.closed(file);
  }

  async flush(number: number): Promise<void> {
    const { file } = this.#handle(number);
    // While the peer is away the put waits, and the program continues.
    if (!file.unsent || this.#tree.away) return;
    await file.run(this.#link.patienceMs, () => this.#files.put(file, false));
  }

  async fsync(number: number): Promise<void> {
    const { file } = this.#handle(number);
    await file.run(this.#link.patienceMs, async () => {
      if (this.#tree.away && file.unsent) throw new Failure('ETIMEDOUT');
      await this.#files.put(file, true);
    });
  }

  async release(number: number): Promise<void> {
    const handle = this.#handle(number);
    this.#handles.delete(number);
    handle.file.handles.delete(handle);
    if (handle.content !== undefined) await this.#contents.close(handle.content);
    await this.#files.closed(handle.file);
  }

  async fsyncdir(given: string): Promise<void> {
    await this.#link.ask({ type: 'syncDirectory', path: pathOf(given) });
  }

  async mknod(given: string, mode: number): Promise<void> {
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Failure('EPERM');
    await this.#make('file', newPath(given), mode, '');
  }

  async mkdir(given: string, mode: number): Promise<void> {
    await this.#make('directory', newPath(given), mode, '');
  }

  async symlink(target: string, given: string): Promise<void> {
    if (Buffer.byteLength(target) > MOST_TARGET_BYTES) throw new Failure('ENAMETOOLONG');
    await this.#make('symlink', newPath(given), PERMISSIONS, target);
  }

  async link(): Promise<void> {
    throw new Failure('EPERM');
  }

  async unlink(given: string): Promise<void> {
    const path = pathOf(given);
    await this.#together(this.#filesAt(path), async () => {
      await this.#settled(path, this.#link.ask({ type: 'remove', directory: false, path }));
      this.#tree.removed(path);
      for (const file of this.#filesAt(path)) await this.#forget(file);
    });
  }

  async rmdir(given: string): Promise<void> {
    const path = pathOf(given);
    await this.#settled(path, this.#link.ask({ type: 'remove', directory: true, path }));
    this.#tree.removed(path);
  }

  async rename(givenFrom: string, givenTo: string): Promise<void> {
    const from = pathOf(givenFrom);
    const to = newPath(givenTo);
    if (from === to) return;
    if (to.startsWith(`${from}/`)) throw new Failure('EINVAL');
    await this.#together([...this.#files.below(from), ...this.#filesAt(to)], async () => {
      // The other side never has an unfinished file in place of the old one.
      for (const file of this.#files.below(from)) await this.#files.put(file, false);
      await this.#settled(from, this.#settled(to, this.#link.ask({ type: 'rename', how: 'replace', from, to })));
      this.#tree.renamed(from, to);
      for (const file of this.#filesAt(to)) await this.#forget(file);
      for (const file of this.#files.below(from)) this.#files.move(file, to + file.path.slice(from.length));
    });
  }

  async chmod(given: string, mode: number): Promise<void> {
    const path = pathOf(given);
    if ((mode & ~(constants.S_IFMT | PERMISSIONS)) !== 0) throw new Failure('EPERM');
    await this.#change(path, { what: CHANGE_MODE, mode: mode & PERMISSIONS, mtimeNs: 0n });
  }

  async chown(_path: string, uid: number, gid: number): Promise<void> {
    const same = (id: number, ours: number | undefined) => id === NO_OWNER || id === ours;
    if (!same(uid, process.getuid?.()) || !same(gid, process.getgid?.())) throw new Failure('EPERM');
  }

  async utimens(given: string, mtimeMs: number): Promise<void> {
    const path = pathOf(given);
    const file = this.#files.get(path);
    const mtimeNs = BigInt(Math.floor(mtimeMs)) * NS_PER_MS;
    const work = () => this.#change(path, { what: CHANGE_MTIME, mode: 0, mtimeNs });
    if (file === undefined) return work();
    await file.run(this.#link.patienceMs, async () => {
      await this.#files.put(file, false);
      await work();
      // Only the time has changed, so an overlay on this version stays valid.
      if (file.overlay !== undefined) file.overlay.base = versionOf(file.entry);
    });
  }

  async getxattr(given: string, name: string): Promise<Buffer> {
    if (!name.startsWith('user.')) throw new Failure('ENOTSUP');
    const pages: Uint8Array[] = [];
    const request = { type: 'getAttribute', path: pathOf(given), name } as const;
    await this.#link.ask(request, { onPage: (page) => pages.push(page) });
    return Buffer.concat(pages);
  }

  async setxattr(given: string, name: string, value: Buffer, flags: number): Promise<void> {
    if (!name.startsWith('user.')) throw new Failure('ENOTSUP');
    const how = (flags & XATTR_CREATE) !== 0 ? 'new' : (flags & XATTR_REPLACE) !== 0 ? 'old' : 'any';
    // It is the addon's, and gone when this returns.
    const copied = Buffer.from(value);
    await this.#link.ask({ type: 'setAttribute', how, path: pathOf(given), name, value: copied });
  }

  async listxattr(given: string): Promise<Buffer> {
    const pages: Uint8Array[] = [];
    const request = { type: 'listAttributes', path: pathOf(given) } as const;
    await this.#link.ask(request, { onPage: (page) => pages.push(page) });
    return Buffer.concat(pages);
  }

  async removexattr(given: string, name: string): Promise<void> {
    if (!name.startsWith('user.')) throw new Failure('ENOTSUP');
    await this.#link.ask({ type: 'removeAttribute', path: pathOf(given), name });
  }

  async statfs(): Promise<{ totalBytes: number; freeBytes: number }> {
    // Not to know it is no reason to fail.
    return this.#link.ask({ type: 'space' }).then(decodeSpaceAnswer, () => ({ totalBytes: 0, freeBytes: 0 }));
  }

  /** All of one version; ESTALE for a handle that has read bytes of another. */
  async #readContent(handle: Handle, buffer: Buffer, offset: number): Promise<number> {
    const { file, position } = handle;
    for (let attempt = 1; ; attempt++) {
      const entry = file.gone ? file.entry : await this.#tree.look(file.path);
      if (handle.seen !== undefined && !sameVersion(handle.seen, entry)) throw new Failure('ESTALE');
      if (handle.content !== undefined && !sameVersion(handle.content, entry)) {
        await this.#contents.close(handle.content);
        handle.content = undefined;
      }
      handle.content ??= this.#contents.open(file.path, entry);
      const part = buffer.subarray(0, Math.max(Math.min(buffer.length, entry.size - offset), 0));
      try {
        await this.#contents.read(handle.content, file.path, part, offset, position);
        // It fills page-cache pages that all handles of the file share.
        for (const one of file.handles) one.seen ??= versionOf(entry);
        return part.length;
      } catch (reason) {
        this.#tree.doubt(file.path);
        if (!isFailure(reason, 'ESTALE') || handle.seen !== undefined || attempt === ATTEMPTS) throw reason;
      }
    }
  }

  async #make(kind: ShareEntry['type'], path: string, mode: number, target: string): Promise<ShareEntry> {
    const request = { type: 'make', kind, mode: mode & PERMISSIONS, path, target } as const;
    const entry = await this.#settled(path, this.#link.askEntry(request));
    this.#tree.made(path, entry);
    return entry;
  }

  async #change(path: string, change: { what: number; mode: number; mtimeNs: bigint }): Promise<void> {
    const entry = await this.#settled(path, this.#link.askEntry({ type: 'change', ...change, path }));
    this.#tree.changed(path, entry);
    const file = this.#files.get(path);
    if (file === undefined) return;
    file.entry = entry;
    // The bytes already seen are unchanged.
    for (const handle of file.handles) if (handle.seen !== undefined) handle.seen = versionOf(entry);
  }

  /** After a failure the path is in doubt. */
  async #settled<T>(path: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (reason) {
      this.#tree.doubtNames(parentOf(path));
      this.#tree.doubt(path);
      throw reason;
    }
  }

  #together(files: OpenFile[], work: () => Promise<void>): Promise<void> {
    const sorted = [...new Set(files)].sort((one, other) => (one.path < other.path ? -1 : 1));
    return sorted.reduceRight((inner, file) => () => file.run(this.#link.patienceMs, inner), work)();
  }

  #filesAt(path: string): OpenFile[] {
    const file = this.#files.get(path);
    return file === undefined ? [] : [file];
  }

  async #forget(file: OpenFile): Promise<void> {
    this.#files.drop(file);
    await this.#files.closed(file);
  }

  #opened(file: OpenFile): number {
    while (this.#handles.has(this.#next)) this.#next = (this.#next % MOST_HANDLES) + 1;
    const position = { next: 0, begun: 0, aheadUntil: 0 };
    const handle = { file, content: undefined, seen: undefined, position };
    file.handles.add(handle);
    this.#handles.set(this.#next, handle);
    return this.#next;
  }

  #handle(number: number): Handle {
    const handle = this.#handles.get(number);
    if (handle === undefined) throw new Failure('EBADF');
    return handle;
  }
}

function versionOf({ size, mtimeNs }: FileVersion): FileVersion {
  return { size, mtimeNs };
}

function statOf({ type, mode, size: bytes, mtimeNs, target }: ShareEntry, gone = false): Stat {
  const links = gone ? 0 : 1;
  const size = target === undefined ? bytes : Buffer.byteLength(target);
  return { mode: TYPE_BITS[type] | mode, size, mtimeMs: Number(mtimeNs / NS_PER_MS), links };
}

function pathOf(given: string): string {
  return given.slice(1);
}

/** @throws Failure: ENAMETOOLONG */
function checkedPath(given: string): string {
  const path = pathOf(given);
  if (Buffer.byteLength(nameOf(path)) > MOST_NAME_BYTES) throw new Failure('ENAMETOOLONG');
  return path;
}

/** The path of an entry to be created. @throws Failure */
function newPath(given: string): string {
  const path = checkedPath(given);
  const name = nameOf(path);
  if (name.includes(UNREADABLE)) throw new Failure('EINVAL');
  if (name.startsWith(STAGING_NAME)) throw new Failure('EPERM');
  return path;
}
