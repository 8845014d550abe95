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
  readonly settle: (verdict: Verdict) => void;
}

/** Our invitations to one contact that it has not answered yet: told by each conversation there is, until one brings the answer. */
export class SentInvitations {
  readonly #ways: () => Iterable<InvitationWay>;
  readonly #sent = new Map<string, Sent>();

  /** @param ways  the conversations of now */
  constructor(ways: () => Iterable<InvitationWay>) {
    this.#ways = ways;
  }

  get isEmpty(): boolean {
    return this.#sent.size === 0;
  }

  /** Resolves with the contact's last word, however long it is away. @throws `signal.reason` on abort */
  async deliver(
    invitation: Invitation,
    { signal, onState = () => {} }: DeliverOptions,
  ): Promise<Exclude<Verdict, 'asked'>> {
    signal.throwIfAborted();
    const id = Buffer.from(invitation.id).toString('hex');
    let onAbort = () => {};
    try {
      return await new Promise((resolve, reject) => {
        const settle = (verdict: Verdict) => (verdict === 'asked' ? onState('asked') : resolve(verdict));
        onAbort = () => {
          for (const way of this.#ways()) if (way.peerIsResident) way.send({ kind: 'withdraw', id: invitation.id });
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        const sent = { invitation, onState, settle };
        this.#sent.set(id, sent);
        for (const way of this.#ways()) this.#tell(sent, way);
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#sent.delete(id);
    }
  }

  /** One conversation more by which the contact can be invited. */
  tellAll(way: InvitationWay): void {
    for (const sent of this.#sent.values()) this.#tell(sent, way);
  }

  /** What the contact says to one; an answer to none is passed over. */
  take(id: Uint8Array, verdict: Verdict): void {
    this.#sent.get(Buffer.from(id).toString('hex'))?.settle(verdict);
  }

  /** The contact takes nothing from us. */
  blocked(): void {
    for (const { settle } of [...this.#sent.values()]) settle('blocked');
  }

  #tell({ invitation, onState }: Sent, way: InvitationWay): void {
    if (!way.peerIsResident) return;
    way.send({ kind: 'invite', invitation });
    onState('told');
  }
}

/** What a verdict that is no `taken` means to whoever has invited. */
export function refusedBy(name: string, verdict: Exclude<Verdict, 'asked' | 'taken'>): KeibiError {
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
    case 'busy':
      return new KeibiError('PEER_BUSY', `${name} has too many offers of yours to answer. Try again later.`, {
        detail,
      });
  }
}
