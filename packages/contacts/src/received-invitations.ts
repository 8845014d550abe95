// SPDX-License-Identifier: MPL-2.0
import { type ContactMessage, type Invitation, KeibiError, type Verdict } from '@keibidrop/protocol';
import type { Contact } from './contact.ts';
import { decideInvitation } from './invitation-rule.ts';

/** A contact's invitation, until it is answered or withdrawn. */
export interface ReceivedInvitation {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string;
  /** The contact at the time of the invitation. */
  readonly contact: Contact;
  readonly to: Invitation['to'];
  /** The contact's description; untrusted, so sanitize it before display. */
  readonly label: string;
  /** The size that the contact claims. */
  readonly size: Invitation['size'];
  /** Secret. */
  readonly code: string;
  /** The folder in which the contact's rule receives it at once; undefined: ask the user. */
  readonly folder: string | undefined;
  /**
   * Aborted when the invitation is withdrawn, or when the contact leaves and does not return to it. An answer does not
   * abort it.
   */
  readonly signal: AbortSignal;
  /** Notifies the contact. Only the first answer counts. */
  answer(verdict: Exclude<Verdict, 'asked' | 'blocked'>): void;
}

/** The conversation that last delivered an invitation. */
export interface InvitationSource {
  send(message: ContactMessage): void;
}

interface Waiting {
  /** The id in the contact's own form. */
  readonly name: Uint8Array;
  readonly ending: AbortController;
  from: InvitationSource;
  leaving: NodeJS.Timeout | undefined;
}

/** Within this time a disconnected contact repeats its invitation; otherwise the invitation ends. */
const AWAY_MS = 20_000;
/** Remembered answers per contact, for invitations that are repeated because the answer was lost. */
const MAX_ANSWERED = 64;

/**
 * The invitations received from one contact. They do not outlive the process, because the inviting side repeats them.
 */
export class ReceivedInvitations {
  readonly #onInvitation: (invitation: ReceivedInvitation) => void;
  readonly #waiting = new Map<string, Waiting>();
  readonly #answered = new Map<string, Verdict>();

  constructor(onInvitation: (invitation: ReceivedInvitation) => void) {
    this.#onInvitation = onInvitation;
  }

  /** Handles an invitation, perhaps a repeated one. */
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

  /** The contact withdraws its invitation. */
  withdraw(id: Uint8Array): void {
    this.#forget(Buffer.from(id).toString('hex'), 'The contact has withdrawn it.');
  }

  /** Handles the end of a conversation. */
  leave(from: InvitationSource): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.from !== from) continue;
      clearTimeout(waiting.leaving);
      waiting.leaving = setTimeout(() => this.#forget(id, 'The contact has gone offline.'), AWAY_MS).unref();
    }
  }

  /** Ends all invitations; the user is no longer asked about them. */
  close(): void {
    for (const id of [...this.#waiting.keys()]) this.#forget(id, 'The invitations of this contact have been closed.');
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
    // An answer of busy allows the contact to invite again.
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
