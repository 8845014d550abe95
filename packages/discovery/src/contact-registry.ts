// SPDX-License-Identifier: MPL-2.0
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostPort } from './host-port.ts';
import { ANY_ADDRESS, isRunning, type RegistryOptions } from './registry.ts';
import { assertPrivate, makePrivate, runtimeDirectory } from './runtime-directory.ts';

/** An endpoint of this machine and user, with its mailboxes. `host` and `port` reach it from this machine. */
export interface RegisteredEndpoint extends HostPort {
  readonly mailboxes: ReadonlySet<string>;
}

/** The file by which an endpoint announces itself to this user's other programs. It is replaced atomically. */
export interface EndpointEntry {
  /** Replaces the announced mailboxes. */
  announce(mailboxes: readonly string[]): Promise<void>;
  /** Removes the file. The next search removes the file of a dead process. */
  withdraw(): Promise<void>;
}

/** Twice the need of a thousand contacts. */
const MAX_MAILBOXES = 4096;
const MAX_FILE_BYTES = MAX_MAILBOXES * 68 + 256;
const MAX_ENDPOINTS = 64;
const ENTRY = /^[0-9a-f-]{36}\.json$/;
const MAILBOX = /^[0-9a-f]{64}$/;

/**
 * Registers an endpoint for this machine and user.
 * @param listening  the bound address; an unspecified address is announced as loopback
 * @throws           CONFIG_INVALID if other users can access the runtime directory
 */
export async function registerEndpoint(
  listening: HostPort,
  { directory = runtimeDirectory() }: RegistryOptions = {},
): Promise<EndpointEntry> {
  const endpoints = join(directory, 'endpoints');
  await makePrivate(directory);
  await makePrivate(endpoints);
  const name = randomUUID();
  const file = join(endpoints, `${name}.json`);
  const { host, port } = listening;
  return {
    async announce(mailboxes) {
      const entry = { host: ANY_ADDRESS[host] ?? host, port, pid: process.pid, mailboxes };
      const unfinished = join(endpoints, `.${name}`);
      await writeFile(unfinished, JSON.stringify(entry), { mode: 0o600 });
      await rename(unfinished, file);
    },
    withdraw: () => unlink(file).catch(() => {}),
  };
}

/** The endpoints of this machine and user. @throws CONFIG_INVALID as `registerEndpoint` does */
export async function endpointsHere({
  directory = runtimeDirectory(),
}: RegistryOptions = {}): Promise<RegisteredEndpoint[]> {
  const endpoints = join(directory, 'endpoints');
  if (!(await assertPrivate(directory)) || !(await assertPrivate(endpoints))) return [];
  const files = (await readdir(endpoints)).filter((name) => ENTRY.test(name)).slice(0, MAX_ENDPOINTS);
  const found = await Promise.all(files.map((name) => readEndpoint(join(endpoints, name))));
  return found.flatMap((endpoint) => endpoint ?? []);
}

/** File names are never reused, so a dead process's file can be removed without a race. */
async function readEndpoint(file: string): Promise<RegisteredEndpoint | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const entry = text.length <= MAX_FILE_BYTES ? parse(text) : undefined;
  if (entry !== undefined && isRunning(entry.pid)) return entry;
  if (text !== '') await unlink(file).catch(() => {});
  return undefined;
}

function parse(text: string): (RegisteredEndpoint & { pid: number }) | undefined {
  let value: { [key in 'host' | 'port' | 'pid' | 'mailboxes']?: unknown } | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { host, port, pid, mailboxes } = value ?? {};
  if (typeof host !== 'string' || typeof port !== 'number' || typeof pid !== 'number') return undefined;
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || !Number.isInteger(pid) || pid < 1) return undefined;
  if (!Array.isArray(mailboxes) || mailboxes.length > MAX_MAILBOXES) return undefined;
  const known = mailboxes.filter((each): each is string => typeof each === 'string' && MAILBOX.test(each));
  return { host, port, pid, mailboxes: new Set(known) };
}
