// SPDX-License-Identifier: MPL-2.0
import { ApiError } from '../../shared/api.ts';

const KEPT = 'key';
const NONCE_BYTES = 16;

/**
 * The key that lets this page call the daemon. The browser stores it for this origin, beside a cookie that the page
 * cannot read. The daemon issues both for the ticket in the URL with which `keibidrop ui` opens the page.
 *
 * Only the daemon gets the key: the server at this address first proves that it knows the key, again after each lost
 * connection.
 */
export class PageKey {
  #ticket: string | null;
  #proven: Promise<string> | undefined;

  /** The ticket leaves the address at once, so that no copy of the address holds it. */
  constructor() {
    this.#ticket = new URLSearchParams(location.hash.slice(1)).get('ticket');
    if (this.#ticket !== null) history.replaceState(null, '', location.pathname);
  }

  /** The header of a call. @throws ApiError UNREACHABLE, or DAEMON_REFUSED for a page without a key, or another program in the daemon's place */
  authorization(): Promise<string> {
    this.#proven ??= this.#prove().catch((reason) => {
      this.#proven = undefined;
      throw reason;
    });
    return this.#proven;
  }

  /** The connection was lost: another program may answer next. */
  distrust(): void {
    this.#proven = undefined;
  }

  async #prove(): Promise<string> {
    if (this.#ticket !== null) await this.#enter(this.#ticket);
    const key = localStorage.getItem(KEPT);
    if (key === null) throw new ApiError('DAEMON_REFUSED', 'This page has no key.');
    const nonce = hexOf(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    // Without the cookie: nothing leaves before the proof.
    const response = await asked(`/proof/${nonce}`, { credentials: 'omit' });
    const expected = await proofOf(key, `keibidrop page ${location.host} ${nonce}`);
    if (!response.ok || (await response.text()) !== expected) {
      throw new ApiError('DAEMON_REFUSED', 'The key of this page belongs to another daemon.');
    }
    return `Bearer ${key}`;
  }

  /** A ticket that was used before is no harm where the browser has a key. */
  async #enter(ticket: string): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await asked('/enter', { method: 'POST', headers, body: JSON.stringify({ ticket }) });
    this.#ticket = null;
    if (!response.ok) return;
    const { key } = (await response.json()) as { key: string };
    localStorage.setItem(KEPT, key);
  }
}

async function asked(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (cause) {
    throw new ApiError('UNREACHABLE', String(cause));
  }
}

async function proofOf(key: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(key.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
  const hmac = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hexOf(new Uint8Array(await crypto.subtle.sign('HMAC', hmac, new TextEncoder().encode(text))));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
