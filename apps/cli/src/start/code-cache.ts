// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';

/** A folder of this name beside the program holds its caches, instead of the user's cache directory. */
const OWN_FOLDER = 'code-cache';
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Files that a user's cache directory keeps: the newest, of every version of the program and of Node. */
const MOST_FILES = 32;
const WRITABLE_BY_OTHERS = 0o022;
const DIGEST_LENGTH = 64;
/** V8 copies cached data that is not aligned. */
const ALIGNMENT = 8;

/** Where the caches of a program are, and which users may have written them. */
interface Place {
  readonly directory: string;
  readonly owners: readonly number[];
  readonly fileMode: number;
}

/** Names one cache: it serves only the same chunks, run by the same Node for the same command. */
export interface CacheKey {
  /** Digest of all chunks. */
  readonly build: string;
  readonly command: string;
}

/**
 * The chunks of the program as V8 has compiled them for one command (docs/decisions/032). It is read and executed like the
 * program, so a file that another user could have written is never loaded. Nothing here throws: without a cache the program
 * only starts slower.
 */
export class CodeCache {
  /** Whether a file was found and is whole. */
  readonly found: boolean;
  readonly #place: Place | undefined;
  readonly #file: string;
  readonly #chunks: ReadonlyMap<string, Buffer>;

  private constructor(place: Place | undefined, file: string, chunks: ReadonlyMap<string, Buffer> | undefined) {
    this.#place = place;
    this.#file = file;
    this.#chunks = chunks ?? new Map();
    this.found = chunks !== undefined;
  }

  /** @param programDirectory  of the running program */
  static open(programDirectory: string, env: NodeJS.ProcessEnv, { build, command }: CacheKey): CodeCache {
    const place = placeOf(programDirectory, env);
    // The tag stands for V8's version and flags: with other flags V8 would reject the data, and each run replace that of the other.
    const file = `${command}-${build}-${process.arch}-${cachedDataVersionTag().toString(16)}`;
    return new CodeCache(place, file, place && readChunks(place, file));
  }

  /** Data for `vm.Script`; undefined for a chunk that was not loaded when the cache was written. */
  get(chunk: string): Buffer | undefined {
    return this.#chunks.get(chunk);
  }

  /** Replaces the file by the code of `chunks`, atomically. */
  save(chunks: ReadonlyMap<string, Buffer>): void {
    if (this.#place === undefined) return;
    const { directory, fileMode } = this.#place;
    const path = join(directory, this.#file);
    const temporary = `${path}.${process.pid}`;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      // Root must not leave files of its own in the directory of another user.
      if (lstatSync(directory).uid !== process.geteuid?.()) return;
      writeFileSync(temporary, encode(chunks), { flag: 'wx', mode: fileMode });
      renameSync(temporary, path);
      prune(directory);
    } catch {
      rmSync(temporary, { force: true });
    }
  }
}

function placeOf(programDirectory: string, env: NodeJS.ProcessEnv): Place | undefined {
  const user = process.geteuid?.();
  if (user === undefined) return undefined; // Windows: no owner to check
  const own = join(programDirectory, OWN_FOLDER);
  const program = statSync(programDirectory, { throwIfNoEntry: false });
  if (program !== undefined && lstatSync(own, { throwIfNoEntry: false })?.isDirectory()) {
    return { directory: own, owners: [program.uid, 0], fileMode: 0o644 };
  }
  const base = cacheHome(env);
  if (base === undefined) return undefined;
  return { directory: join(base, 'keibidrop', 'code'), owners: [user], fileMode: 0o600 };
}

function cacheHome({ XDG_CACHE_HOME: named, HOME: home }: NodeJS.ProcessEnv): string | undefined {
  if (process.platform !== 'darwin' && named && isAbsolute(named)) return named;
  if (!home || !isAbsolute(home)) return undefined;
  return process.platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
}

function isTrusted({ uid, mode }: Stats, { owners }: Place): boolean {
  return owners.includes(uid) && (mode & WRITABLE_BY_OTHERS) === 0;
}

function readChunks(place: Place, name: string): ReadonlyMap<string, Buffer> | undefined {
  let file: number | undefined;
  try {
    if (!isTrusted(lstatSync(place.directory), place)) return undefined;
    file = openSync(join(place.directory, name), constants.O_RDONLY | constants.O_NOFOLLOW);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES || !isTrusted(stats, place)) return undefined;
    return decode(readFileSync(file));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** DIGEST \n {"chunk": [offset, length], ...} \n DATA: offsets count from the first multiple of ALIGNMENT after the header. */
function encode(chunks: ReadonlyMap<string, Buffer>): Buffer {
  const index: Record<string, [offset: number, length: number]> = {};
  const parts: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of chunks) {
    index[name] = [offset, data.length];
    const padding = aligned(data.length) - data.length;
    parts.push(data, Buffer.alloc(padding));
    offset += data.length + padding;
  }
  const header = `${JSON.stringify(index)}\n`;
  const before = DIGEST_LENGTH + 1 + header.length;
  const rest = Buffer.concat([Buffer.from(header + ' '.repeat(aligned(before) - before)), ...parts]);
  return Buffer.concat([Buffer.from(`${digestOf(rest)}\n`), rest]);
}

/** V8 trusts the data that it loads, so a damaged file must be found here. @throws for one that is not JSON */
function decode(file: Buffer): ReadonlyMap<string, Buffer> | undefined {
  const rest = file.subarray(DIGEST_LENGTH + 1);
  if (file.toString('latin1', 0, DIGEST_LENGTH) !== digestOf(rest)) return undefined;
  const headerEnd = file.indexOf('\n', DIGEST_LENGTH + 1) + 1;
  const header = file.toString('latin1', DIGEST_LENGTH + 1, headerEnd);
  const index = JSON.parse(header) as Record<string, [offset: number, length: number]>;
  const start = aligned(headerEnd);
  return new Map(
    Object.entries(index).map(([name, [offset, length]]) => [
      name,
      file.subarray(start + offset, start + offset + length),
    ]),
  );
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

function digestOf(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function prune(directory: string): void {
  const files = readdirSync(directory).map((name) => ({ name, time: statSync(join(directory, name)).mtimeMs }));
  files.sort((a, b) => b.time - a.time);
  for (const { name } of files.slice(MOST_FILES)) rmSync(join(directory, name), { force: true });
}
