// SPDX-License-Identifier: MPL-2.0
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { dialTcp } from './dial/dial-tcp.ts';
import { type HostPort, isHostPort } from './host-port.ts';
import type { Transport } from './transport.ts';

/** Number of stored addresses, and how long they are kept. */
const MOST_ADDRESSES = 8;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const MOST_BYTES = 8192;
const VERSION = 1;
/** The registry and the networks are searched first, so that the host now at an old address does not see every meeting. */
const HEAD_START_MS = 500;

interface Remembered extends HostPort {
  /** Last time a sender was reached there, in milliseconds since 1970. */
  readonly at: number;
}

/** Finds senders at addresses where one was reached before, newest first; for networks without multicast. */
export function createRememberedTransport(file: string): Transport {
  return {
    name: 'direct',
    async *find(_mailbox, { signal }) {
      const known = await addressesIn(file);
      if (known === 'newer' || known.length === 0) return;
      await setTimeout(HEAD_START_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      for (const { host, port } of known) yield { transport: 'direct', host, port };
    },
    dial: dialTcp,
  };
}

/**
 * Stores the address of a sender in a file readable only by this user. Nothing is stored after a write error, or if a later
 * version wrote the file.
 */
export async function rememberAddress(file: string, { host, port }: HostPort): Promise<void> {
  const known = await addressesIn(file);
  if (known === 'newer') return;
  const others = known.filter((one) => one.host !== host || one.port !== port);
  const addresses = [{ host, port, at: Date.now() }, ...others].slice(0, MOST_ADDRESSES);
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(unfinished, JSON.stringify({ v: VERSION, addresses }), { mode: 0o600, flag: 'wx' });
    await rename(unfinished, file);
  } catch {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}

/** Reads the addresses that are not too old; none if the file is missing or invalid. */
async function addressesIn(file: string): Promise<Remembered[] | 'newer'> {
  try {
    const text = await readFile(file, 'utf8');
    const { v, addresses } = JSON.parse(text.slice(0, MOST_BYTES));
    if (typeof v === 'number' && v > VERSION) return 'newer';
    if (v !== VERSION || !Array.isArray(addresses)) return [];
    const oldest = Date.now() - KEPT_MS;
    return addresses
      .filter((one) => isRemembered(one) && one.at >= oldest && one.at <= Date.now())
      .slice(0, MOST_ADDRESSES);
  } catch {
    return [];
  }
}

function isRemembered(value: unknown): value is Remembered {
  const { host, port, at } = (value ?? {}) as Record<string, unknown>;
  return typeof host === 'string' && typeof port === 'number' && typeof at === 'number' && isHostPort({ host, port });
}
