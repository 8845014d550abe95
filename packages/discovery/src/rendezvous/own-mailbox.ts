// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Conversation, Inbox, KeibiError, type Owner } from '@keibidrop/protocol';
import { dialRendezvous, rendezvousUnreachable } from '../dial/dial-rendezvous.ts';
import { formatHostPort, type HostPort } from '../host-port.ts';
import type { Attachment, RelayAccess } from './mailbox-attachment.ts';
import type { Observation } from './observation.ts';
import type { JoinOptions } from './rendezvous-client.ts';

/** State of a mailbox for its owner: open to guests, or lost and being retried. */
export type MailboxState =
  | {
      readonly kind: 'open';
      /** Our end of the connection as the server sees it, if it reports that. */
      readonly observed: Observation | undefined;
      /** The server's relay, if it has one. */
      readonly relay: RelayAccess | undefined;
      /** A relay that the server names and that we must not dial. */
      readonly refusedRelay: HostPort | undefined;
    }
  | { readonly kind: 'lost'; readonly error: KeibiError };

export interface OwnOptions extends JoinOptions {
  /** Connect from this port if it is free: `observed` is then about it, and the connection keeps the NAT mapping open. */
  fromPort?: number | undefined;
  /** Called with the first state and each change, in order; never after `close` or an abort. */
  onState(state: MailboxState): void;
}

const OWNER_BYTES = 16;
/** Guests that have spoken and still wait for a greeting. */
export const MAX_GUESTS = 64;
/** A sender waits this long for a server before it shows its code; retries continue in the background. */
const FIRST_TRY_MS = 3000;
/**
 * Pause between tries: the first, doubled after each failure, and the longest. Each is randomly reduced by up to a quarter, so that the
 * owners of a server do not return all at once.
 */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** An attachment that lasted this long resets the pause. */
const STEADY_MS = 10_000;

/**
 * Owns a mailbox at a server, across lost connections, until `close` or an abort.
 *
 * @returns  after the first try, even if the server was unreachable or full; `onState` has been called by then
 * @throws   RENDEZVOUS_BUSY with `detail.taken` if the first try finds another owner; `signal.reason` on abort
 */
export async function ownMailbox(place: HostPort, mailbox: string, options: OwnOptions): Promise<Owner> {
  options.signal.throwIfAborted();
  const owned = new RemoteMailbox(place, mailbox, options);
  await owned.begin();
  return owned;
}

class RemoteMailbox implements Owner {
  readonly #place: HostPort;
  readonly #mailbox: string;
  readonly #options: OwnOptions;
  readonly #arrivals = new Inbox<Conversation>(MAX_GUESTS);
  /** Lets a server recognise us, so that we regain the mailbox while a dead attachment still holds it. */
  readonly #owner = randomBytes(OWNER_BYTES);
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  #last: MailboxState | undefined;
  #attachment: Attachment | undefined;

  constructor(place: HostPort, mailbox: string, options: OwnOptions) {
    this.#place = place;
    this.#mailbox = mailbox;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closing.signal]);
    this.#signal.addEventListener('abort', () => this.#attachment?.close(), { once: true });
  }

  async begin(): Promise<void> {
    const tooLong = AbortSignal.timeout(FIRST_TRY_MS);
    try {
      await this.#attach(AbortSignal.any([this.#signal, tooLong]));
    } catch (reason) {
      this.#options.signal.throwIfAborted();
      const cause = tooLong.aborted ? rendezvousUnreachable(this.#place, reason) : reason;
      const error = KeibiError.from(cause, 'RENDEZVOUS_UNREACHABLE');
      if (error.detail?.taken === true) throw error;
      this.#report({ kind: 'lost', error });
    }
    void this.#keep();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Conversation> {
    for (;;) {
      try {
        yield await this.#arrivals.take({ signal: this.#signal });
      } catch (reason) {
        if (this.#signal.aborted) return;
        throw reason;
      }
    }
  }

  close(): void {
    this.#closing.abort(new KeibiError('SESSION_CLOSED', 'The mailbox was given up.'));
  }

  /** Waits for the end of an attachment and makes the next, until the abort. */
  async #keep(): Promise<void> {
    let failures = 0;
    while (!this.#signal.aborted) {
      const began = performance.now();
      const error = await this.#attachment?.ended;
      if (error !== undefined) this.#report({ kind: 'lost', error });
      if (performance.now() - began > STEADY_MS) failures = 0;
      await sleep(pauseMs(failures++), undefined, { signal: this.#signal }).catch(() => {});
      await this.#attach(this.#signal).catch((reason) => {
        this.#report({ kind: 'lost', error: KeibiError.from(reason, 'RENDEZVOUS_UNREACHABLE') });
      });
    }
  }

  async #attach(signal: AbortSignal): Promise<void> {
    this.#attachment = undefined;
    const dialling = dialRendezvous(this.#place, { signal, fromPort: this.#options.fromPort });
    const [connection, { attachAsOwner }] = await Promise.all([dialling, import('./mailbox-attachment.ts')]);
    this.#attachment = await attachAsOwner(connection, this.#place, this.#mailbox, {
      openChannel: this.#options.openChannel,
      signal,
      owner: this.#owner,
      arrive: (conversation) => this.#arrivals.put(conversation),
    }).catch((reason) => {
      throw forOwner(this.#place, reason);
    });
    if (this.#signal.aborted) this.#attachment.close();
    const { observed, relay, refusedRelay } = this.#attachment;
    this.#report({ kind: 'open', observed, relay, refusedRelay });
  }

  #report(state: MailboxState): void {
    if (this.#signal.aborted || (state.kind === 'lost' && this.#last?.kind === 'lost' && sameCode(this.#last, state)))
      return;
    this.#last = state;
    this.#options.onState(state);
  }
}

/** Replaces the text of RENDEZVOUS_BUSY, which is meant for guests; other errors pass unchanged. */
function forOwner(place: HostPort, reason: unknown): unknown {
  if (!(reason instanceof KeibiError && reason.code === 'RENDEZVOUS_BUSY')) return reason;
  const { detail } = reason;
  const at = `the rendezvous ${formatHostPort(place)}`;
  const text =
    detail?.taken === true
      ? `Another sender uses that number at ${at}. Choose another code.`
      : `There is no room at ${at} now, or this address has tried too often.`;
  return new KeibiError('RENDEZVOUS_BUSY', text, { cause: reason, ...(detail && { detail }) });
}

function sameCode(one: { error: KeibiError }, other: { error: KeibiError }): boolean {
  return one.error.code === other.error.code;
}

/** @param failures  failed tries in a row */
function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (1 - Math.random() / 4);
}
