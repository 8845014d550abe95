// SPDX-License-Identifier: MPL-2.0
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileNewer } from '@keibidrop/protocol';
import { readPrivate, writePrivate } from '@keibidrop/settings/files';
import { PAGE_SECRET_BYTES } from './page-keys.ts';

const HOST = '127.0.0.1';
/** Below the ports that systems use for outgoing connections, which are often taken. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;
const TRIES = 32;
const VERSION = 1;
const FILE = { maxBytes: 1024, unusable: 'CONFIG_INVALID' } as const;

/** The port of a user's page, and the secret of its browser keys. Stored in the state directory. */
export interface PagePlace {
  readonly port: number;
  readonly secret: Uint8Array;
}

/** Reads the stored place; undefined if the file is missing or malformed. @throws FILE_NEWER, CONFIG_INVALID */
export async function readPagePlace(file: string): Promise<PagePlace | undefined> {
  const bytes = await readPrivate(file, FILE);
  if (bytes === undefined) return undefined;
  const { v, port, secret } = fieldsOf(bytes);
  if (typeof v === 'number' && v > VERSION) throw fileNewer(file);
  const known = Buffer.from(String(secret), 'base64url');
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port <= 0xffff;
  return v === VERSION && isPort && known.length === PAGE_SECRET_BYTES ? { port, secret: known } : undefined;
}

function fieldsOf(file: Uint8Array): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(file).toString()));
  } catch {
    return {};
  }
}

export async function keepPagePlace(file: string, { port, secret }: PagePlace): Promise<void> {
  const text = JSON.stringify({ v: VERSION, port, secret: Buffer.from(secret).toString('base64url') });
  await writePrivate(file, Buffer.from(text), { replace: true }, FILE.unusable);
}

/**
 * Listens at the stored port. If another program has taken it, listens at a new port with a new secret, because that program
 * may have seen values derived from the old one.
 */
export async function listenForPage(server: Server, kept: PagePlace | undefined): Promise<PagePlace> {
  if (kept !== undefined && (await tryListen(server, kept.port))) return kept;
  const secret = randomBytes(PAGE_SECRET_BYTES);
  for (let i = 0; i < TRIES; i++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await tryListen(server, port)) return { port, secret };
  }
  server.listen(0, HOST);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, secret };
}

/** @returns  false if the port is taken or not allowed for this user */
async function tryListen(server: Server, port: number): Promise<boolean> {
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
    return true;
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES') return false;
    throw reason;
  }
}
