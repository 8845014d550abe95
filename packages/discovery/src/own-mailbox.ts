// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Conversation, Inbox, KeibiError, type Owner } from '@keibidrop/protocol';
import { dialRendezvous, rendezvousUnreachable } from './dial-rendezvous.ts';
import { formatHostPort, type HostPort } from './host-port.ts';
import type { Attachment, RelayAccess } from './mailbox-attachment.ts';
import type { Observation } from './observation.ts';
import type { JoinOptions } from './rendezvous-client.ts';

/** What a mailbox at a server is to its owner: guests come, or the server is away and tried again. */
export type MailboxState =
  | {
      readonly kind: 'open';
      /** Our end of the connection as the server sees it, if it says. */
      readonly observed: Observation | undefined;
      /** Where the server relays, if it does. */
      readonly relay: RelayAccess | undefined;
      /** Where it says that it relays, if that is no place to dial. */
      readonly refusedRelay: HostPort | undefined;
    }
  | { readonly kind: 'lost'; readonly error: KeibiError };

export interface OwnOptions extends JoinOptions {
  /** Stay connected from this port of ours, if it can be had: then `observed` is about it, and routers keep its way open. */
  fromPort?: number | undefined;
  /** Told the first state and each change, in order; never after `close` or an abort. */
  onState(state: MailboxState): void;
}

const OWNER_BYTES = 16;
/** Guests that have spoken and that nobody has greeted yet. */
export const MAX_GUESTS = 64;
/** Whoever has a code to give away waits no longer for a server than this; it is tried further meanwhile. */
const FIRST_TRY_MS = 3000;
/** Between two tries: the first, doubled with each that fails, and the longest. All by chance up to a quarter less, so that a server's owners do not come at once. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A server that held us for so long is well again. */
const STEADY_MS = 10_000;

/**
 * Owns a mailbox at a server, over its loss and return, until `close` or an abort.
 *
 * @returns  after the first try, also if the server could not be reached or had no room: `onState` has been told
 * @throws   RENDEZVOUS_BUSY with `detail.taken` if the first try finds that another owns it; `signal.reason` on abort
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
  /** By which a server knows us again: the mailbox is ours though an attachment that has died still holds it. */
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
      this.#tell({ kind: 'lost', error });
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

  /** Waits for the end of one attachment and makes the next, until there is to be none. */
  async #keep(): Promise<void> {
    let failures = 0;
    while (!this.#signal.aborted) {
      const began = performance.now();
      const error = await this.#attachment?.ended;
      if (error !== undefined) this.#tell({ kind: 'lost', error });
      if (performance.now() - began > STEADY_MS) failures = 0;
      await sleep(pauseMs(failures++), undefined, { signal: this.#signal }).catch(() => {});
      await this.#attach(this.#signal).catch((reason) => {
        this.#tell({ kind: 'lost', error: KeibiError.from(reason, 'RENDEZVOUS_UNREACHABLE') });
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
    this.#tell({ kind: 'open', observed, relay, refusedRelay });
  }

  #tell(state: MailboxState): void {
    if (this.#signal.aborted || (state.kind === 'lost' && this.#last?.kind === 'lost' && sameCode(this.#last, state)))
      return;
    this.#last = state;
    this.#options.onState(state);
  }
}

/** RENDEZVOUS_BUSY has a text for guests; everything else stays as it is. */
function forOwner(place: HostPort, reason: unknown): unknown {
  if (!(reason instanceof KeibiError && reason.code === 'RENDEZVOUS_BUSY')) return reason;
  const { detail } = reason;
  const at = `the rendezvous ${formatHostPort(place)}`;
  const text =
    detail?.taken === true
      ? `Another sender waits under that number at ${at}. Choose another code.`
      : `There is no room at ${at} now, or too much was tried from this address.`;
  return new KeibiError('RENDEZVOUS_BUSY', text, { cause: reason, ...(detail && { detail }) });
}

function sameCode(one: { error: KeibiError }, other: { error: KeibiError }): boolean {
  return one.error.code === other.error.code;
}

/** @param failures  tries in a row that failed */
function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (1 - Math.random() / 4);
}
