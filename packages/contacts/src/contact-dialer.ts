// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { Place } from './contact-endpoint.ts';

export interface DialerOptions {
  /** Whether a successful visit is useful now. */
  isWanted(): boolean;
  /** Meets the contact at that place, if it is there. */
  visit(mailbox: string, place: Place, options: { signal: AbortSignal }): Promise<void>;
}

interface Known {
  readonly mailbox: string;
  readonly place: Place;
  failures: number;
  running: boolean;
  timer: NodeJS.Timeout | undefined;
  /** Time of its last announcement, as `performance.now()`. */
  announcedAt: number;
}

/** Time limit from the dial to the proof. An online contact takes a tenth of a second. */
const VISIT_MS = 6000;
/** A nearby place that does not answer is retried after this pause, which doubles up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 4000;
/** A nearby place without an announcement for this time is forgotten. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** At a rendezvous an absent contact looks for us when it comes online; these retries are a fallback. */
const FIRST_ABSENT_PAUSE_MS = 5000;
const LONGEST_ABSENT_PAUSE_MS = 5 * 60_000;
/** A contact that has blocked us is unlikely to change its mind soon. */
const BLOCKED_PAUSE_MS = 10 * 60_000;
/** Limit of places per contact, because a network may announce any number. */
const MAX_PLACES = 16;

/** The places where one contact may be, and when to try them again. */
export class ContactDialer {
  readonly #options: DialerOptions;
  readonly #known = new Map<string, Known>();
  readonly #closing = new AbortController();
  #blockedUntil = 0;

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /**
   * Adds a place where the contact may be.
   * @param fresh  the path there has just come up, so earlier attempts do not count
   */
  addPlace(mailbox: string, place: Place, fresh: boolean): void {
    if (this.#closing.signal.aborted) return;
    const key = `${mailbox} ${place.transport} ${place.host} ${place.port}`;
    const known = this.#known.get(key) ?? this.#add(key, mailbox, place);
    if (known === undefined) return;
    known.announcedAt = performance.now();
    if (fresh) this.#soon(known);
    else if (known.timer === undefined) void this.#visit(known);
  }

  /** Tries every place at once, after a change. */
  retry(): void {
    for (const known of this.#known.values()) this.#soon(known);
  }

  /** Like `retry`, also if the contact has blocked us, because a caller waits for the answer. */
  insist(): void {
    this.#blockedUntil = 0;
    this.retry();
  }

  /** Forgets the places of all mailboxes except these. */
  keep(mailboxes: ReadonlySet<string>): void {
    for (const [key, { mailbox, timer }] of this.#known) {
      if (mailboxes.has(mailbox)) continue;
      clearTimeout(timer);
      this.#known.delete(key);
    }
  }

  close(): void {
    this.#closing.abort(new KeibiError('SESSION_CLOSED'));
    for (const { timer } of this.#known.values()) clearTimeout(timer);
    this.#known.clear();
  }

  #add(key: string, mailbox: string, place: Place): Known | undefined {
    if (this.#known.size >= MAX_PLACES) return undefined;
    const known = { mailbox, place, failures: 0, running: false, timer: undefined, announcedAt: 0 };
    this.#known.set(key, known);
    return known;
  }

  #soon(known: Known): void {
    known.failures = 0;
    void this.#visit(known);
  }

  async #visit(known: Known): Promise<void> {
    if (known.running || !this.#options.isWanted() || performance.now() < this.#blockedUntil) return;
    clearTimeout(known.timer);
    known.timer = undefined;
    known.running = true;
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(VISIT_MS)]);
      await this.#options.visit(known.mailbox, known.place, { signal });
      known.failures = 0;
    } catch (reason) {
      if (!this.#closing.signal.aborted) this.#later(known, reason);
    } finally {
      known.running = false;
    }
  }

  #later(known: Known, reason: unknown): void {
    const code = reason instanceof KeibiError ? reason.code : undefined;
    const pauseMs = this.#pauseAfter(known, code);
    known.failures++;
    if (pauseMs === undefined) {
      for (const [key, each] of this.#known) if (each === known) this.#known.delete(key);
      return;
    }
    known.timer = setTimeout(
      () => {
        known.timer = undefined;
        void this.#visit(known);
      },
      pauseMs * (1 - Math.random() / 4),
    ).unref();
  }

  /** Undefined: wait for the next announcement. */
  #pauseAfter({ place, failures, announcedAt }: Known, code: string | undefined): number | undefined {
    if (code === 'CONTACT_BLOCKED') {
      this.#blockedUntil = performance.now() + BLOCKED_PAUSE_MS;
      return BLOCKED_PAUSE_MS;
    }
    const absent = code === 'RENDEZVOUS_NOT_FOUND';
    if (place.transport === 'rendezvous') {
      // The line announces the place again when it is back up.
      if (code === 'RENDEZVOUS_UNREACHABLE') return undefined;
      return absent ? doubled(FIRST_ABSENT_PAUSE_MS, failures, LONGEST_ABSENT_PAUSE_MS) : LONGEST_PAUSE_MS;
    }
    // The place was another contact's endpoint, or it has closed.
    if (absent || performance.now() - announcedAt > FORGOTTEN_AFTER_MS) return undefined;
    return doubled(FIRST_PAUSE_MS, failures, LONGEST_PAUSE_MS);
  }
}

function doubled(firstMs: number, failures: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** failures, longestMs);
}
