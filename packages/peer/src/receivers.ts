// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { ReturnSecret } from '@keibidrop/session';

/** One receiver of a send, over all its sessions. */
export interface Receiver {
  /** Counts from 1 in the order of first handshakes. */
  readonly number: number;
  /** What it last called itself. */
  peer: string;
  /** When its first session was up, or it was accepted if a person had to say so; milliseconds of `performance.now()`. */
  startedAt: number;
  /** It has said yes. */
  accepted: boolean;
}

/** A session that serves a receiver. */
export interface ServingSession {
  /** Ends it at once, without a word. Resolves when everything of it is freed. */
  replace(): Promise<void>;
}

/** A receiver that may come back, or is being served. */
interface Kept extends Receiver {
  /** Undefined: away. */
  session: ServingSession | undefined;
  /** By which it may come back, the newest first; those before it until the receiver has shown to know it. */
  readonly secrets: ReturnSecret[];
  timer: NodeJS.Timeout | undefined;
}

/** As long as a receiver tries. */
const AWAY_MS = 24 * 60 * 60_000;
/** One more that is away, and the one that has been away longest is forgotten. */
const MAX_AWAY = 256;

/** The receivers of one send: who is served, who has been lost and may come back. It keeps copies of the secrets it is given. */
export class Receivers {
  readonly #kept = new Map<number, Kept>();
  #numbers = 0;

  /** How many are being served. */
  get served(): number {
    return [...this.#kept.values()].filter(({ session }) => session !== undefined).length;
  }

  /** How many are being served or away. */
  get size(): number {
    return this.#kept.size;
  }

  /** The secret of a return that is still open, by the attempt a handshake or a guest names. */
  secretOf(attempt: Uint8Array): ReturnSecret | undefined {
    return this.#holderOf(attempt)?.secrets.find((secret) => isSame(secret.attempt, attempt));
  }

  /** Takes a receiver that has come with the code; the one that has been away longest loses its place to it if there are only `places`. */
  add(session: ServingSession, returning: ReturnSecret, places: number): Receiver {
    if (this.#kept.size >= places) this.#forgetLongestAway();
    const receiver = { number: ++this.#numbers, peer: '', startedAt: performance.now(), accepted: false };
    const kept: Kept = { ...receiver, session, secrets: [returning.copy()], timer: undefined };
    this.#kept.set(kept.number, kept);
    return kept;
  }

  /**
   * Takes a receiver that has come back. A session that still believes itself alive is replaced: the network has changed, and its
   * heartbeats have not noticed yet.
   *
   * @returns  undefined if `attempt` is not one of a return
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

  /** The receiver has spoken under the keys of its newest session: it will not ask for an older one. */
  prove({ number }: Receiver): void {
    for (const secret of this.#kept.get(number)?.secrets.splice(1) ?? []) secret.wipe();
  }

  /** The session was lost; its receiver may come back. */
  leave({ number }: Receiver): void {
    const kept = this.#kept.get(number);
    if (kept === undefined) return;
    kept.session = undefined;
    kept.timer = setTimeout(() => this.forget(kept), AWAY_MS).unref();
    // The last in the map is the last to be forgotten.
    this.#kept.delete(number);
    this.#kept.set(number, kept);
    if (this.size - this.served > MAX_AWAY) this.#forgetLongestAway();
  }

  /** The receiver has everything, or is not to come back. */
  forget({ number }: Receiver): void {
    const kept = this.#kept.get(number);
    clearTimeout(kept?.timer);
    for (const secret of kept?.secrets ?? []) secret.wipe();
    this.#kept.delete(number);
  }

  /** Forgets all. */
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

/** Why a session ended that another has replaced. */
export function replaced(): KeibiError {
  return new KeibiError('SESSION_LOST', 'The receiver came back over another connection.');
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
