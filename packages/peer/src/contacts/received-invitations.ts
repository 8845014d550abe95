// SPDX-License-Identifier: MPL-2.0
import { type ContactMessage, type Invitation, KeibiError, type Verdict } from '@keibidrop/protocol';
import type { Contact } from './contact.ts';
import { decideInvitation } from './invitation-rule.ts';

/** What a contact has invited us to, until it is answered or withdrawn. */
export interface ReceivedInvitation {
  /** 32 lower hex digits. */
  readonly id: string;
  /** As it was when the invitation came. */
  readonly contact: Contact;
  readonly to: Invitation['to'];
  /** What it is about: a claim of the contact's, to be made harmless before it is shown. */
  readonly label: string;
  /** How much the contact says it is. */
  readonly size: Invitation['size'];
  /** Secret. */
  readonly code: string;
  /** Where the contact's rule wants it received at once; undefined: a person has to be asked. */
  readonly folder: string | undefined;
  /** Aborted when it is withdrawn, or the contact is gone and does not come back to it. Not by an answer. */
  readonly signal: AbortSignal;
  /** Tells the contact. The first answer counts. */
  answer(verdict: Exclude<Verdict, 'asked' | 'blocked'>): void;
}

/** The conversation by which an invitation came last. */
export interface InvitationSource {
  send(message: ContactMessage): void;
}

interface Waiting {
  /** As the contact names it. */
  readonly name: Uint8Array;
  readonly ending: AbortController;
  from: InvitationSource;
  leaving: NodeJS.Timeout | undefined;
}

/** A contact whose conversation is lost comes back and asks again, or what it wanted is over. */
const AWAY_MS = 20_000;
/** Answers of one contact that are remembered, for invitations that are repeated because the answer was lost. */
const MAX_ANSWERED = 64;

/** The invitations of one contact that have come. Nothing here outlives the process: whoever invites repeats it. */
export class ReceivedInvitations {
  readonly #onInvitation: (invitation: ReceivedInvitation) => void;
  readonly #waiting = new Map<string, Waiting>();
  readonly #answered = new Map<string, Verdict>();

  constructor(onInvitation: (invitation: ReceivedInvitation) => void) {
    this.#onInvitation = onInvitation;
  }

  /** An invitation has come, perhaps not for the first time. */
  take(contact: Contact, invitation: Invitation, from: InvitationSource): void {
    const name = invitation.id.slice();
    const id = Buffer.from(name).toString('hex');
    const reply = (verdict: Verdict) => from.send({ kind: 'invite-reply', id: name, verdict });
    const known = this.#waiting.get(id);
    const answered = this.#answered.get(id);
    const decision = decideInvitation(contact, invitation, this.#waiting.size);
    if (known !== undefined) {
      clearTimeout(known.leaving);
      known.from = from;
      reply('asked');
    } else if (answered !== undefined) {
      reply(answered);
    } else if (decision.do === 'refuse') {
      reply(decision.verdict);
    } else {
      if (decision.do === 'ask') reply('asked');
      this.#keep(id, { name, from }, contact, invitation, decision.do === 'take' ? decision.folder : undefined);
    }
  }

  /** The contact has thought better of it. */
  withdraw(id: Uint8Array): void {
    this.#forget(Buffer.from(id).toString('hex'), 'The contact has withdrawn it.');
  }

  /** A conversation has ended. */
  leave(from: InvitationSource): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.from !== from) continue;
      clearTimeout(waiting.leaving);
      waiting.leaving = setTimeout(() => this.#forget(id, 'The contact has gone offline.'), AWAY_MS).unref();
    }
  }

  /** Nobody is to be asked about any of them any more. */
  close(): void {
    for (const id of [...this.#waiting.keys()]) this.#forget(id, 'This contact is not listened to any more.');
  }

  #keep(
    id: string,
    { name, from }: Pick<Waiting, 'name' | 'from'>,
    contact: Contact,
    { to, label, code, size }: Invitation,
    folder: string | undefined,
  ): void {
    const ending = new AbortController();
    this.#waiting.set(id, { name, ending, from, leaving: undefined });
    const answer = (verdict: Verdict) => this.#answer(id, verdict);
    this.#onInvitation({ id, contact, to, label, size, code, folder, signal: ending.signal, answer });
  }

  #answer(id: string, verdict: Verdict): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    clearTimeout(waiting.leaving);
    this.#waiting.delete(id);
    const [oldest] = this.#answered.keys();
    if (this.#answered.size >= MAX_ANSWERED && oldest !== undefined) this.#answered.delete(oldest);
    // Whoever was busy may be asked again.
    if (verdict !== 'busy') this.#answered.set(id, verdict);
    waiting.from.send({ kind: 'invite-reply', id: waiting.name, verdict });
  }

  #forget(id: string, why: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    clearTimeout(waiting.leaving);
    this.#waiting.delete(id);
    waiting.ending.abort(new KeibiError('CANCELLED', why));
  }
}
