// SPDX-License-Identifier: MPL-2.0
import { type ContactMessage, type Invitation, KeibiError, type Verdict } from '@keibidrop/protocol';

/** A conversation by which a contact can be invited. */
export interface InvitationWay {
  readonly peerIsResident: boolean;
  send(message: ContactMessage): void;
}

export interface DeliverOptions {
  /** Ends the waiting and withdraws what was told. */
  signal: AbortSignal;
  /** It was told to the contact, or a person there is being asked; each may come again when a conversation was lost. */
  onState?(state: 'told' | 'asked'): void;
}

interface Sent {
  readonly invitation: Invitation;
  readonly onState: (state: 'told' | 'asked') => void;
  readonly settle: (verdict: Verdict | 'moved') => void;
  /** The contact had no room for it. */
  busy: boolean;
}

/** The contact's last word on an invitation. */
export type FinalVerdict = Exclude<Verdict, 'asked' | 'busy'>;

/** Until a contact that had no room is asked again: doubled each time, unless it answers something before. */
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 60_000;

/** Our invitations to one contact that it has not answered yet: told by each conversation there is, until one brings the answer. */
export class SentInvitations {
  readonly #ways: () => Iterable<InvitationWay>;
  readonly #sent = new Map<string, Sent>();
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  /** @param ways  the conversations of now */
  constructor(ways: () => Iterable<InvitationWay>) {
    this.#ways = ways;
  }

  get isEmpty(): boolean {
    return this.#sent.size === 0;
  }

  /** Resolves with the contact's last word, however long it is away or has no room; `moved` after `release`. @throws `signal.reason` on abort */
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
        for (const way of this.#ways()) this.#tell(sent, way);
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#sent.delete(id);
      if (this.#sent.size === 0) this.#stopRetry();
    }
  }

  /** One conversation more by which the contact can be invited. */
  tellAll(way: InvitationWay): void {
    for (const sent of this.#sent.values()) this.#tell(sent, way);
  }

  /** What the contact says to one; an answer to none is passed over. */
  take(id: Uint8Array, verdict: Verdict): void {
    const sent = this.#sent.get(Buffer.from(id).toString('hex'));
    if (sent === undefined) return;
    sent.busy = verdict === 'busy';
    sent.settle(verdict);
    if (sent.busy) this.#retryLater();
    else if (verdict !== 'asked') this.#retryNow();
  }

  /** The contact takes nothing from us. */
  blocked(): void {
    for (const { settle } of [...this.#sent.values()]) settle('blocked');
  }

  /** The contact is reached another way now, and invited again there. */
  release(): void {
    for (const { settle } of [...this.#sent.values()]) settle('moved');
  }

  /** An answer may have made room. */
  #retryNow(): void {
    this.#stopRetry();
    this.#retryMs = FIRST_RETRY_MS;
    this.#tellBusy();
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#stopRetry();
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      this.#tellBusy();
    }, this.#retryMs);
  }

  #stopRetry(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #tellBusy(): void {
    const busy = [...this.#sent.values()].filter((sent) => sent.busy);
    for (const sent of busy) for (const way of this.#ways()) this.#tell(sent, way);
  }

  #tell({ invitation, onState }: Sent, way: InvitationWay): void {
    if (!way.peerIsResident) return;
    way.send({ kind: 'invite', invitation });
    onState('told');
  }
}

/** What a verdict that is no `taken` means to whoever has invited. */
export function refusedBy(name: string, verdict: Exclude<FinalVerdict, 'taken'>): KeibiError {
  const detail = { remote: true, verdict };
  switch (verdict) {
    case 'blocked':
      return new KeibiError('CONTACT_BLOCKED', `${name} has blocked you, so nothing was sent.`, { detail });
    case 'refused':
      return new KeibiError('OFFER_DECLINED', `${name} takes nothing from you, by a rule. Nothing was sent.`, {
        detail,
      });
    case 'declined':
      return new KeibiError('OFFER_DECLINED', `${name} declined, so nothing was sent.`, { detail });
  }
}
