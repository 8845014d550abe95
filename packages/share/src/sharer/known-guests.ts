// SPDX-License-Identifier: MPL-2.0
import { type Code, KeibiError } from '@keibidrop/protocol';
import { RECORD_OVERHEAD_BYTES, ReturnSecret } from '@keibidrop/session';
import type { SealedPlace } from '@keibidrop/settings';
import { GUEST_UNUSED_MS } from '../guest/known-shares.ts';
import { SealedFolder } from '../sealed-folder.ts';
import { decodeKnownGuests, encodeKnownGuests, KNOWN_GUEST_BYTES, MAX_GUEST_SECRETS } from './known-guest-records.ts';

/** Guests that one share remembers; beyond this the least recently used is forgotten. */
export const MAX_KNOWN_GUESTS = 512;
/** Shares of one user whose guests are kept; files of killed shares count until they are trimmed. */
const MAX_SHARES = 1024;
/** How often the use of current guests is written, so that a long session does not count as unused. */
const REFRESH_MS = 24 * 60 * 60_000;
const MAX_FILE_BYTES = RECORD_OVERHEAD_BYTES + MAX_KNOWN_GUESTS * KNOWN_GUEST_BYTES;

interface Issued {
  readonly secret: Uint8Array;
  readonly returning: ReturnSecret;
}

/** A guest that may return without the code. */
export interface KnownGuest {
  /** Milliseconds since 1970. */
  used: number;
  /** Its current sessions. */
  serving: number;
  /** Issued secrets, newest last; the guest holds one of them. */
  readonly issued: Issued[];
}

export interface KnownGuestsOptions {
  /** Where they are stored; absent: in memory. */
  place: SealedPlace | undefined;
  /** The share's code. */
  code: Code;
}

/** The guests of a share, by the secrets that let them return (PROTOCOL 3.2). */
export class KnownGuests {
  readonly #guests = new Set<KnownGuest>();
  readonly #byAttempt = new Map<string, KnownGuest>();
  readonly #files: SealedFolder | undefined;
  readonly #name: string;
  #forgotten = 0;
  #writing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;
  #closed = false;
  readonly #refresh: NodeJS.Timeout;

  /** Loads the guests of the share's earlier run. @throws CONFIG_INVALID, DISK_FULL */
  static async open({ place, code }: KnownGuestsOptions): Promise<KnownGuests> {
    if (place === undefined) return new KnownGuests(undefined, '');
    const files = new SealedFolder(place, MAX_FILE_BYTES);
    await files.trim({ most: MAX_SHARES, unusedMs: GUEST_UNUSED_MS });
    const known = new KnownGuests(files, await files.nameOf(code.text));
    await known.#load();
    return known;
  }

  private constructor(files: SealedFolder | undefined, name: string) {
    this.#files = files;
    this.#name = name;
    this.#refresh = setInterval(() => void this.#save().catch(() => {}), REFRESH_MS).unref();
  }

  get count(): number {
    return this.#guests.size;
  }

  /** Guests forgotten to make room, or because they were unused for long. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** The secret to mix into the handshake of this attempt; undefined if it is not a guest's. */
  secretOf(attempt: Uint8Array): ReturnSecret | undefined {
    const key = hex(attempt);
    return this.#byAttempt.get(key)?.issued.find(({ returning }) => hex(returning.attempt) === key)?.returning;
  }

  guestOf(attempt: Uint8Array): KnownGuest | undefined {
    return this.#byAttempt.get(hex(attempt));
  }

  /**
   * Stores the secret of a guest's new session. Secrets older than the one the guest holds are dropped; the others stay
   * until the guest shows a newer one.
   *
   * @param guest  undefined for a guest that came by the code
   * @throws       DISK_FULL, CONFIG_INVALID; the new one is not stored then
   */
  async remember(guest: KnownGuest | undefined, held: Uint8Array, secret: Uint8Array): Promise<KnownGuest> {
    if (this.#closed) throw new KeibiError('SESSION_CLOSED');
    const own = secret.slice();
    const issued: Issued = { secret: own, returning: await ReturnSecret.ofGuest(own) };
    const one: KnownGuest = guest ?? { used: Date.now(), serving: 0, issued: [] };
    const at = one.issued.findIndex(({ returning }) => hex(returning.attempt) === hex(held));
    for (const before of one.issued.splice(0, Math.max(0, at))) this.#drop(before);
    // The oldest is the one that the guest is known to hold.
    if (one.issued.length === MAX_GUEST_SECRETS) for (const over of one.issued.splice(1, 1)) this.#drop(over);
    one.issued.push(issued);
    one.serving++;
    this.#add(one);
    this.#makeRoom();
    try {
      await this.#save();
      return one;
    } catch (reason) {
      one.serving--;
      one.issued.splice(one.issued.indexOf(issued), 1);
      this.#drop(issued);
      if (one.issued.length === 0) this.#guests.delete(one);
      throw reason;
    }
  }

  /** A session that was remembered has ended. */
  leave(guest: KnownGuest): void {
    guest.serving--;
    guest.used = Date.now();
  }

  /** Writes when each guest was last here. @param forget  the share has ended for good: forget all guests */
  async close({ forget }: { forget: boolean }): Promise<void> {
    if (this.#closed) return;
    clearInterval(this.#refresh);
    if (!forget && this.#guests.size > 0) await this.#save().catch(() => {});
    this.#closed = true;
    await this.#writing.catch(() => {});
    if (forget) await this.#files?.remove(this.#name);
    for (const { issued } of this.#guests) for (const one of issued) wipe(one);
    this.#guests.clear();
    this.#byAttempt.clear();
  }

  async #load(): Promise<void> {
    const bytes = await this.#files?.read(this.#name);
    for (const { used, secrets } of (bytes && decodeKnownGuests(bytes)) ?? []) {
      const issued: Issued[] = [];
      for (const secret of secrets) issued.push({ secret, returning: await ReturnSecret.ofGuest(secret) });
      if (Date.now() - used <= GUEST_UNUSED_MS) this.#add({ used, serving: 0, issued });
      else this.#forgotten++;
    }
    bytes?.fill(0);
  }

  #add(guest: KnownGuest): void {
    this.#guests.add(guest);
    for (const { returning } of guest.issued) this.#byAttempt.set(hex(returning.attempt), guest);
  }

  #makeRoom(): void {
    if (this.#guests.size <= MAX_KNOWN_GUESTS) return;
    const away = [...this.#guests].filter(({ serving }) => serving === 0);
    away.sort((one, other) => one.used - other.used);
    for (const oldest of away.slice(0, this.#guests.size - MAX_KNOWN_GUESTS)) {
      this.#guests.delete(oldest);
      for (const issued of oldest.issued.splice(0)) this.#drop(issued);
      this.#forgotten++;
    }
  }

  #drop(issued: Issued): void {
    this.#byAttempt.delete(hex(issued.returning.attempt));
    wipe(issued);
  }

  /** Resolves once the current state is on the disk. One write runs, and at most one waits. */
  #save(): Promise<void> {
    this.#queued ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#queued = undefined;
        this.#writing = this.#put();
        return this.#writing;
      });
    return this.#queued;
  }

  async #put(): Promise<void> {
    if (this.#files === undefined || this.#closed) return;
    const now = Date.now();
    const records = [...this.#guests].map(({ used, serving, issued }) => ({
      used: serving > 0 ? now : used,
      secrets: issued.map(({ secret }) => secret),
    }));
    const bytes = encodeKnownGuests(records);
    await this.#files.write(this.#name, bytes).finally(() => bytes.fill(0));
  }
}

function wipe({ secret, returning }: Issued): void {
  secret.fill(0);
  returning.wipe();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
