// SPDX-License-Identifier: MPL-2.0
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { KeibiError } from '@keibidrop/protocol';

export const PAGE_SECRET_BYTES = 32;
const TOKEN_BYTES = 32;
/** A launcher opens the browser at once, but a person may paste the address. */
const TICKET_MS = 10 * 60_000;
/** Limit of unused tickets; the oldest is dropped. */
const MAX_TICKETS = 64;
/** Renewed each time a page opens. */
const COOKIE_SECONDS = 90 * 24 * 3600;
const NONCE = /^[0-9a-f]{32}$/;

/**
 * Decides which callers the HTTP server accepts.
 *
 * A browser sends two credentials, which survive a restart of the daemon: a cookie that no script can read, and the key
 * of the page, which the browser stores for this one port. Cookies reach every port of the host; the key does not. Both
 * derive from one secret in the state directory; the daemon issues them for a ticket that is valid once. Programs of
 * this user send a token of this run instead.
 */
export class PageKeys {
  /** For programs; never for a browser. */
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url');
  readonly #address: string;
  readonly #cookie: string;
  readonly #key: Buffer;
  /** By hash, with the time at which each expires. */
  readonly #tickets = new Map<string, number>();

  /** @param address  HOST:PORT of the HTTP server */
  constructor(secret: Uint8Array, address: string) {
    this.#address = address;
    const port = address.slice(address.lastIndexOf(':') + 1);
    // All ports of a host share its cookies, so each server uses its own name.
    this.#cookie = `keibidrop-${port}=${derived(secret, 'keibidrop page cookie').toString('base64url')}`;
    this.#key = derived(secret, 'keibidrop page key');
  }

  /** A new ticket for a URL of the page; it is valid once. */
  newTicket(): string {
    const ticket = randomBytes(TOKEN_BYTES).toString('base64url');
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size >= MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    this.#tickets.set(hashOf(ticket), Date.now() + TICKET_MS);
    return ticket;
  }

  /** Exchanges a ticket for the key of the page. @throws DAEMON_REFUSED */
  enter(ticket: string): string {
    const hash = hashOf(ticket);
    const until = this.#tickets.get(hash);
    this.#tickets.delete(hash);
    if (until === undefined || until < Date.now()) throw new KeibiError('DAEMON_REFUSED');
    return this.#key.toString('base64url');
  }

  /** The header that gives a browser its cookie. */
  get setCookie(): string {
    return `${this.#cookie}; Path=/; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Strict`;
  }

  /**
   * Proves to a page that this is its daemon, before the page sends its key: another program may have taken the port.
   * The proof covers the address, so a program cannot fetch it here and use it at another port.
   *
   * @throws USAGE
   */
  proof(nonce: string): string {
    if (!NONCE.test(nonce)) throw new KeibiError('USAGE', 'A request for a proof needs 32 hexadecimal digits.');
    return createHmac('sha256', this.#key).update(`keibidrop page ${this.#address} ${nonce}`).digest('hex');
  }

  /** @throws DAEMON_REFUSED */
  assertAuthorized({ authorization = '', cookie = '' }: IncomingHttpHeaders): void {
    if (isSame(authorization, `Bearer ${this.token}`)) return;
    const shown = cookie.split(/; */).some((each) => isSame(each, this.#cookie));
    if (!shown || !isSame(authorization, `Bearer ${this.#key.toString('base64url')}`)) {
      throw new KeibiError('DAEMON_REFUSED');
    }
  }
}

function derived(secret: Uint8Array, label: string): Buffer {
  return createHmac('sha256', secret).update(label).digest();
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}

function isSame(shown: string, expected: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
