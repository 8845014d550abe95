// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { ReturnSecret } from '@keibidrop/session';

/** One receiver of a send, over all its sessions. */
export interface Receiver {
  /** Counts from 1 in the order of first handshakes. */
  readonly number: number;
  /** Its latest display name. */
  peer: string;
  /** Start of its first session, or of its acceptance if the user was asked; milliseconds of `performance.now()`. */
  startedAt: number;
  /** It has accepted the offer. */
  accepted: boolean;
}

/** A session that serves a receiver. */
export interface ServingSession {
  /** Ends it at once, without a goodbye. Resolves when everything of it is freed. */
  replace(): Promise<void>;
}

/** A receiver that may return, or is being served. */
interface Kept extends Receiver {
  /** Undefined while the receiver is away. */
  session: ServingSession | undefined;
  /** The secrets for its return, newest first. Older ones stay until the receiver has shown that it knows the newest. */
  readonly secrets: ReturnSecret[];
  timer: NodeJS.Timeout | undefined;
}

/** Equals the time for which a receiver retries. */
const AWAY_MS = 24 * 60 * 60_000;
/** Limit of absent receivers; beyond it the one absent longest is forgotten. */
const MAX_AWAY = 256;

/** The receivers of one send: those being served, and those that were lost and may return. Keeps copies of the secrets. */
export class Receivers {
  readonly #kept = new Map<number, Kept>();
  #numbers = 0;

  /** The number of receivers being served. */
  get served(): number {
    return [...this.#kept.values()].filter(({ session }) => session !== undefined).length;
  }

  /** The number of receivers being served or away. */
  get size(): number {
    return this.#kept.size;
  }

  /** The secret of a possible return, by the attempt that a handshake or a guest names. */
  secretOf(attempt: Uint8Array): ReturnSecret | undefined {
    return this.#holderOf(attempt)?.secrets.find((secret) => isSame(secret.attempt, attempt));
  }

  /** Adds a receiver that came with the code. If all `places` are taken, the one absent longest is forgotten. */
  add(session: ServingSession, returning: ReturnSecret, places: number): Receiver {
    if (this.#kept.size >= places) this.#forgetLongestAway();
    const receiver = { number: ++this.#numbers, peer: '', startedAt: performance.now(), accepted: false };
    const kept: Kept = { ...receiver, session, secrets: [returning.copy()], timer: undefined };
    this.#kept.set(kept.number, kept);
    return kept;
  }

  /**
   * Takes a receiver back. If its old session still counts as alive, it is replaced: the network has changed before its
   * heartbeats failed.
   *
   * @returns  undefined if `attempt` names no possible return
   */
  async takeBack(attempt: Uint8Array, session: ServingSession, returning: ReturnSecret): Promise<Receiver | undefined> {
    const kept = this.#holderOf(attempt);
    if (kept === undefined) return undefined;
    clearTimeout(kept.timer);
    const before = kept.session;
    kept.session = session;
    kept.secrets.unshift(returning.copy());
    await before?.replace();
    return kept;
  }

  /** Whether `session` is the one that serves its receiver; false once another has replaced it. */
  isServing({ number }: Receiver, session: ServingSession): boolean {
    return this.#kept.get(number)?.session === session;
  }

  /** The receiver has spoken under the keys of its newest session, so it will not return to an older one. */
  prove({ number }: Receiver): void {
    for (const secret of this.#kept.get(number)?.secrets.splice(1) ?? []) secret.wipe();
  }

  /** The session was lost; its receiver may return. */
  leave({ number }: Receiver): void {
    const kept = this.#kept.get(number);
    if (kept === undefined) return;
    kept.session = undefined;
    kept.timer = setTimeout(() => this.forget(kept), AWAY_MS).unref();
    // Re-inserted, so that it is the last to be forgotten.
    this.#kept.delete(number);
    this.#kept.set(number, kept);
    if (this.size - this.served > MAX_AWAY) this.#forgetLongestAway();
  }

  /** The receiver has everything, or may not return. */
  forget({ number }: Receiver): void {
    const kept = this.#kept.get(number);
    clearTimeout(kept?.timer);
    for (const secret of kept?.secrets ?? []) secret.wipe();
    this.#kept.delete(number);
  }

  /** Forgets all receivers. */
  close(): void {
    for (const kept of [...this.#kept.values()]) this.forget(kept);
  }

  #forgetLongestAway(): void {
    const away = [...this.#kept.values()].find(({ session }) => session === undefined);
    if (away !== undefined) this.forget(away);
  }

  #holderOf(attempt: Uint8Array): Kept | undefined {
    return [...this.#kept.values()].find(({ secrets }) => secrets.some((secret) => isSame(secret.attempt, attempt)));
  }
}

/** The reason of a session that another has replaced. */
export function replaced(): KeibiError {
  return new KeibiError('SESSION_LOST', 'The receiver came back over another connection.');
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
