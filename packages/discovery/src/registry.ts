// SPDX-License-Identifier: MPL-2.0
import { createHash, randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { dialTcp } from './dial/dial-tcp.ts';
import type { HostPort } from './host-port.ts';
import { assertPrivate, makePrivate, runtimeDirectory } from './runtime-directory.ts';
import type { Transport } from './transport.ts';

export interface RegistryOptions {
  /** This user's runtime directory. */
  directory?: string;
}

/** Content of a sender's file, as JSON. `host` and `port` reach the sender from this machine. */
interface Announcement extends HostPort {
  readonly pid: number;
}

/** Longer than any announcement; the rest of a file is not read. */
const MAX_FILE_BYTES = 1024;
const ANNOUNCEMENT = /^[0-9a-f]{64}\.json$/;
const MAX_LISTED = 256;
/** Several senders and receivers may be removing the same stale file. */
const PUBLISH_TRIES = 20;
/** A claim older than this belongs to a dead process; a removal takes far less. */
const CLAIM_MS = 10_000;
export const ANY_ADDRESS: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1', '': '127.0.0.1' };

/** Finds the senders of this machine and user by their files in the runtime directory. */
export function createRegistryTransport({ directory = runtimeDirectory() }: RegistryOptions = {}): Transport {
  return {
    name: 'local',
    async *find(mailbox, { signal }) {
      signal.throwIfAborted();
      const senders = join(directory, 'senders');
      if (!(await assertPrivate(directory)) || !(await assertPrivate(senders))) return;
      const found = await readLive(fileOf(senders, mailbox));
      signal.throwIfAborted();
      if (found !== undefined) yield { transport: 'local', host: found.host, port: found.port };
    },
    dial: dialTcp,
  };
}

/** Lists the addresses and process ids of senders of this machine and user, at most MAX_LISTED. @throws CONFIG_INVALID as `announce` does */
export async function sendersHere({ directory = runtimeDirectory() }: RegistryOptions = {}): Promise<Announcement[]> {
  const senders = join(directory, 'senders');
  if (!(await assertPrivate(directory)) || !(await assertPrivate(senders))) return [];
  const files = (await readdir(senders)).filter((name) => ANNOUNCEMENT.test(name)).slice(0, MAX_LISTED);
  const found = await Promise.all(files.map((name) => readLive(join(senders, name))));
  return found.filter((each) => each !== undefined);
}

/**
 * Announces a sender's address to this user's other programs: one file per mailbox, published atomically.
 *
 * @param listening  the bound address; an unspecified address is announced as loopback
 * @returns          withdraws the announcement. The next search removes the file of a dead process.
 * @throws           RENDEZVOUS_BUSY (`detail.taken`) if another running sender has the mailbox;
 *                   CONFIG_INVALID if other users can access the directory
 */
export async function announce(
  mailbox: string,
  listening: HostPort,
  { directory = runtimeDirectory() }: RegistryOptions = {},
): Promise<() => Promise<void>> {
  const senders = join(directory, 'senders');
  await makePrivate(directory);
  await makePrivate(senders);
  const announcement: Announcement = {
    host: ANY_ADDRESS[listening.host] ?? listening.host,
    port: listening.port,
    pid: process.pid,
  };
  const file = fileOf(senders, mailbox);
  const text = JSON.stringify(announcement);
  await publish(senders, file, text);
  return async () => {
    if ((await readFile(file, 'utf8').catch(() => undefined)) === text) await unlink(file).catch(() => {});
  };
}

/** Links a complete file to its name. A link never replaces a file, so exactly one of two senders wins. */
async function publish(senders: string, file: string, text: string): Promise<void> {
  const draft = join(senders, `.${randomUUID()}`);
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
  try {
    for (let tries = 0; tries < PUBLISH_TRIES; tries++) {
      if (await linked(draft, file)) return;
      // `readLive` removes a dead sender's file, so the next try can succeed.
      if ((await readLive(file)) !== undefined) break;
    }
  } finally {
    await unlink(draft);
  }
  const message = 'Another sender on this machine uses that number. Choose another code.';
  throw new KeibiError('RENDEZVOUS_BUSY', message, { detail: { taken: true } });
}

/** Reads the announcement of a running sender. Removes the file of a dead one, or one that is no announcement. */
async function readLive(file: string): Promise<Announcement | undefined> {
  const text = await readStart(file);
  if (text === undefined) return undefined;
  const announcement = parse(text);
  if (announcement !== undefined && isRunning(announcement.pid)) return announcement;
  await removeStale(file, text);
  return undefined;
}

/**
 * Removes `file` if it still contains `text`. The remover must first link a claim whose name is derived from `text`, so that a new
 * sender's file is not removed in place of the old one. A stale claim is removed after CLAIM_MS.
 */
async function removeStale(file: string, text: string): Promise<void> {
  const claim = `${file}.${createHash('sha256').update(text).digest('hex')}`;
  if (await linked(file, claim)) {
    if ((await readStart(claim)) === text) await unlink(file);
    await unlink(claim);
    return;
  }
  const since = await stat(claim).then(
    ({ ctimeMs }) => ctimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  if (Date.now() - since > CLAIM_MS) await unlink(claim).catch(() => {});
}

/** False if `to` exists already or `from` no longer exists. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw new KeibiError('CONFIG_INVALID', `The directory ${dirname(to)} cannot be written.`, { cause });
  }
}

async function readStart(file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function parse(text: string): Announcement | undefined {
  let value: Partial<Record<keyof Announcement, unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { host, port, pid } = value ?? {};
  if (typeof host !== 'string' || !isWithin(port, 65_535) || !isWithin(pid, 2 ** 31 - 1)) return undefined;
  return { host, port, pid };
}

function isWithin(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function fileOf(senders: string, mailbox: string): string {
  if (!/^[0-9a-f]{64}$/.test(mailbox)) throw new KeibiError('INTERNAL', 'bug: a mailbox is 32 bytes as lower hex');
  return join(senders, `${mailbox}.json`);
}
