// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { KeibiError } from '@keibidrop/protocol';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { type ElectronRelease, unavailable } from './electron.ts';

/** Where the releases are, as in the package `electron`, which reads the same variable. */
const RELEASES = 'https://github.com/electron/electron/releases/download/';
/** Limits far above a real Electron (120 MB packed, 300 MB unpacked). */
const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 2 * 1024 * 1024 * 1024;
const MAX_LINK_BYTES = 4096;

const FILE_TYPE = 0o170000;
const SYMLINK = 0o120000;

export interface DownloadOptions {
  readonly release: ElectronRelease;
  /** Such as `linux-x64`. */
  readonly platform: string;
  /** Replaces the address of the releases. */
  readonly mirror: string | undefined;
  /** The folder to create, in which the program then lies. */
  readonly into: string;
  /** `total` is 0 if the server does not say it. */
  readonly onProgress: (bytes: number, total: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Downloads Electron as its npm package does: one archive, compared with the digest that came with this program, then unpacked.
 * The folder appears only when it is complete.
 *
 * @throws WINDOW_UNAVAILABLE; `signal.reason`
 */
export async function downloadElectron(options: DownloadOptions): Promise<void> {
  const { release, platform, into, signal } = options;
  const expected = release.sha256[platform];
  if (expected === undefined) throw unavailable(`There is no Electron ${release.version} for ${platform}`);
  await mkdir(dirname(into), { recursive: true });
  const work = await mkdtemp(`${into}.`);
  try {
    const archive = join(work, 'archive.zip');
    if ((await fetchInto(archive, options)) !== expected) {
      throw unavailable('The downloaded Electron is not the one that was expected, so it was removed');
    }
    await unpack(archive, join(work, 'electron'), signal);
    await rm(into, { recursive: true, force: true });
    await rename(join(work, 'electron'), into);
  } catch (reason) {
    signal.throwIfAborted();
    if (reason instanceof KeibiError) throw reason;
    throw unavailable(`Electron ${release.version} could not be downloaded (${rootMessage(reason)})`, reason);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @returns  the SHA-256 of the written bytes, in hexadecimal */
async function fetchInto(path: string, { release, platform, mirror, onProgress, signal }: DownloadOptions) {
  const { version } = release;
  const response = await fetch(`${mirror || RELEASES}v${version}/electron-v${version}-${platform}.zip`, { signal });
  if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
  const total = Number(response.headers.get('content-length') ?? 0);
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    response.body,
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > MAX_ARCHIVE_BYTES) throw new Error('the archive is too large');
        hash.update(chunk);
        onProgress(bytes, total);
        yield chunk;
      }
    },
    createWriteStream(path, { flags: 'wx' }),
    { signal },
  );
  return hash.digest('hex');
}

/** yauzl refuses absolute names and those with `..`. */
async function unpack(archive: string, folder: string, signal: AbortSignal): Promise<void> {
  const zip = await openPromise(archive);
  const links: { path: string; target: string }[] = [];
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted();
      bytes += entry.uncompressedSize;
      if (bytes > MAX_UNPACKED_BYTES) throw new Error('the unpacked archive is too large');
      const path = join(folder, entry.fileName);
      if (entry.fileName.endsWith('/')) {
        await mkdir(path, { recursive: true });
        continue;
      }
      await mkdir(dirname(path), { recursive: true });
      if ((modeOf(entry) & FILE_TYPE) === SYMLINK) links.push({ path, target: await linkTarget(zip, entry) });
      else await writeEntry(zip, entry, path, signal);
    }
  } finally {
    zip.close();
  }
  // Last, so that no file is written through one.
  for (const { path, target } of links) {
    if (!`${resolve(dirname(path), target)}${sep}`.startsWith(`${resolve(folder)}${sep}`)) {
      throw new Error('a link in the archive leads out of it');
    }
    await symlink(target, path);
  }
}

async function writeEntry(zip: ZipFile, entry: Entry, path: string, signal: AbortSignal): Promise<void> {
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { flags: 'wx' }), { signal });
  await chmod(path, (modeOf(entry) & 0o111) === 0 ? 0o644 : 0o755);
}

async function linkTarget(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > MAX_LINK_BYTES) throw new Error('a link in the archive is too long');
  return text(await zip.openReadStreamPromise(entry));
}

/** Mode of the file; 0 if the archive was made on a system without modes. */
function modeOf({ externalFileAttributes }: Entry): number {
  return externalFileAttributes >>> 16;
}

/** `fetch failed` says less than its cause. */
function rootMessage(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  return reason.cause instanceof Error ? rootMessage(reason.cause) : reason.message;
}
