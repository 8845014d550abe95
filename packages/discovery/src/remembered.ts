// SPDX-License-Identifier: MPL-2.0
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { dialTcp } from './dial-tcp.ts';
import { type HostPort, isHostPort } from './host-port.ts';
import type { Transport } from './transport.ts';

/** Addresses that are kept, and for how long. */
const MOST_ADDRESSES = 8;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const MOST_BYTES = 8192;
/** The registry and the networks are asked first: whoever is at an old address now need not hear of every meeting. */
const HEAD_START_MS = 500;

interface Remembered extends HostPort {
  /** When a sender was reached there last, in milliseconds since 1970. */
  readonly at: number;
}

/** Finds senders where one was reached before, for networks that carry no multicast; the newest address first. */
export function createRememberedTransport(file: string): Transport {
  return {
    name: 'direct',
    async *find(_mailbox, { signal }) {
      const known = await addressesIn(file);
      if (known.length > 0) await setTimeout(HEAD_START_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      for (const { host, port } of known) yield { transport: 'direct', host, port };
    },
    dial: dialTcp,
  };
}

/** Keeps where a sender was reached, in a file for this user alone. A file that cannot be written is no error: nothing is remembered then. */
export async function rememberAddress(file: string, { host, port }: HostPort): Promise<void> {
  const others = (await addressesIn(file)).filter((one) => one.host !== host || one.port !== port);
  const addresses = [{ host, port, at: Date.now() }, ...others].slice(0, MOST_ADDRESSES);
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(unfinished, JSON.stringify({ v: 1, addresses }), { mode: 0o600, flag: 'wx' });
    await rename(unfinished, file);
  } catch {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}

/** Those that are not too old; none if the file is not there or not ours. */
async function addressesIn(file: string): Promise<Remembered[]> {
  try {
    const text = await readFile(file, 'utf8');
    const { v, addresses } = JSON.parse(text.slice(0, MOST_BYTES));
    if (v !== 1 || !Array.isArray(addresses)) return [];
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
