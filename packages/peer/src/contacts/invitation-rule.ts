// SPDX-License-Identifier: MPL-2.0
import type { Invitation } from '@keibidrop/protocol';
import type { Contact } from './contact.ts';

/** Invitations of one contact that wait for an answer. */
export const MAX_WAITING = 8;

/** What is to be done with an invitation, before anybody is asked. */
export type InvitationDecision =
  | { readonly do: 'refuse'; readonly verdict: 'blocked' | 'refused' | 'busy' }
  | { readonly do: 'take'; readonly folder: string }
  | { readonly do: 'ask' };

/**
 * Applies a contact's rule to an invitation of it.
 *
 * A block goes before everything else, and so that a contact cannot fill our memory, room before the rule. A rule that accepts is about what
 * is received and stays: a share, which a person opens or does not, is always asked about.
 *
 * @param waiting  how many others of this contact wait for an answer
 */
export function decideInvitation(
  { blocked, rule }: Pick<Contact, 'blocked' | 'rule'>,
  { to }: Pick<Invitation, 'to'>,
  waiting: number,
): InvitationDecision {
  if (blocked) return { do: 'refuse', verdict: 'blocked' };
  if (rule.kind === 'never') return { do: 'refuse', verdict: 'refused' };
  if (waiting >= MAX_WAITING) return { do: 'refuse', verdict: 'busy' };
  return rule.kind === 'accept' && to !== 'share' ? { do: 'take', folder: rule.folder } : { do: 'ask' };
}
