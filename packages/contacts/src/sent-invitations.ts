// SPDX-License-Identifier: MPL-2.0
import { type ContactMessage, type Invitation, KeibiError, type Verdict } from '@keibidrop/protocol';

/** A conversation by which a contact can be invited. */
export interface InvitationWay {
  readonly peerIsResident: boolean;
  send(message: ContactMessage): void;
}

export interface DeliverOptions {
  /** Ends the wait and withdraws the invitation. */
  signal: AbortSignal;
  /** Called when the contact has the invitation or asks its user. May repeat after a lost conversation. */
  onState?(state: 'invited' | 'asked'): void;
}

interface Sent {
  readonly invitation: Invitation;
  readonly onState: (state: 'invited' | 'asked') => void;
  readonly settle: (verdict: Verdict | 'moved') => void;
  /** The contact had no room for the invitation. */
  busy: boolean;
}

/** The contact's final answer to an invitation. */
export type FinalVerdict = Exclude<Verdict, 'asked' | 'busy'>;

/**
 * Pause before a contact without room is invited again. It doubles each time, unless the contact answers another
 * invitation before.
 */
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 60_000;

/** Our unanswered invitations to one contact. Each open conversation repeats them until one brings the answer. */
export class SentInvitations {
  readonly #ways: () => Iterable<InvitationWay>;
  readonly #sent = new Map<string, Sent>();
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  /** @param ways  the current conversations */
  constructor(ways: () => Iterable<InvitationWay>) {
    this.#ways = ways;
  }

  get isEmpty(): boolean {
    return this.#sent.size === 0;
  }

  /**
   * Resolves with the contact's final answer, however long it is absent or has no room; `moved` after `release`.
   * @throws `signal.reason` on abort
   */
  async deliver(
    invitation: Invitation,
    { signal, onState = () => {} }: DeliverOptions,
  ): Promise<FinalVerdict | 'moved'> {
    signal.throwIfAborted();
    const id = Buffer.from(invitation.id).toString('hex');
    let onAbort = () => {};
    try {
      return await new Promise((resolve, reject) => {
        const settle = (verdict: Verdict | 'moved') => {
          if (verdict === 'asked') onState('asked');
          else if (verdict !== 'busy') resolve(verdict);
        };
        onAbort = () => {
          for (const way of this.#ways()) if (way.peerIsResident) way.send({ kind: 'withdraw', id: invitation.id });
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        const sent = { invitation, onState, settle, busy: false };
        this.#sent.set(id, sent);
        for (const way of this.#ways()) this.#send(sent, way);
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#sent.delete(id);
      if (this.#sent.size === 0) this.#stopRetry();
    }
  }

  /** Sends all invitations over one more conversation. */
  sendAll(way: InvitationWay): void {
    for (const sent of this.#sent.values()) this.#send(sent, way);
  }

  /** Handles the contact's answer to one invitation. Answers to unknown invitations are ignored. */
  take(id: Uint8Array, verdict: Verdict): void {
    const sent = this.#sent.get(Buffer.from(id).toString('hex'));
    if (sent === undefined) return;
    sent.busy = verdict === 'busy';
    sent.settle(verdict);
    if (sent.busy) this.#retryLater();
    else if (verdict !== 'asked') this.#retryNow();
  }

  /** The contact has blocked us. */
  blocked(): void {
    for (const { settle } of [...this.#sent.values()]) settle('blocked');
  }

  /** The contact is now reached through another link, which invites it again. */
  release(): void {
    for (const { settle } of [...this.#sent.values()]) settle('moved');
  }

  /** An answer may have made room. */
  #retryNow(): void {
    this.#stopRetry();
    this.#retryMs = FIRST_RETRY_MS;
    this.#sendBusy();
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#stopRetry();
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      this.#sendBusy();
    }, this.#retryMs);
  }

  #stopRetry(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #sendBusy(): void {
    const busy = [...this.#sent.values()].filter((sent) => sent.busy);
    for (const sent of busy) for (const way of this.#ways()) this.#send(sent, way);
  }

  #send({ invitation, onState }: Sent, way: InvitationWay): void {
    if (!way.peerIsResident) return;
    way.send({ kind: 'invite', invitation });
    onState('invited');
  }
}

/** Converts a verdict other than `taken` into the error for the inviting side. */
export function refusedBy(name: string, verdict: Exclude<FinalVerdict, 'taken'>): KeibiError {
  const detail = { remote: true, verdict };
  switch (verdict) {
    case 'blocked':
      return new KeibiError(
        'CONTACT_BLOCKED',
        `${name} has blocked you, so nothing was sent. Ask ${name} to run keibidrop contacts unblock.`,
        { detail },
      );
    case 'refused':
      return new KeibiError(
        'OFFER_DECLINED',
        `${name} takes nothing from you, by a rule, so nothing was sent. Ask ${name} to change it with keibidrop contacts rule.`,
        {
          detail,
        },
      );
    case 'declined':
      return new KeibiError(
        'OFFER_DECLINED',
        `${name} declined, so nothing was sent. Ask ${name} why, then send again.`,
        { detail },
      );
  }
}
