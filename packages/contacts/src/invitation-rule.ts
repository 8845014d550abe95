// SPDX-License-Identifier: MPL-2.0
import type { Invitation } from '@keibidrop/protocol';
import type { Contact } from './contact.ts';

/** Limit of one contact's unanswered invitations. */
export const MAX_WAITING = 8;

/** How to handle an invitation before the user is asked. */
export type InvitationDecision =
  | { readonly do: 'refuse'; readonly verdict: 'blocked' | 'refused' | 'busy' }
  | { readonly do: 'take'; readonly folder: string }
  | { readonly do: 'ask' };

/**
 * Applies a contact's rule to its invitation.
 *
 * A block overrides everything. The limit of unanswered invitations comes before the rule, so that a contact cannot
 * fill our memory. An accepting rule covers transfers only: a share always needs the user's answer.
 *
 * @param waiting  the contact's other unanswered invitations
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
