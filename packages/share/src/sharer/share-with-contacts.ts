// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import {
  type Contact,
  type ContactLinks,
  type LinksToOptions,
  refusedBy,
  renewedText,
  withLinksTo,
} from '@keibidrop/contacts';
import { INVITATION_ID_BYTES, KeibiError } from '@keibidrop/protocol';

import { openSharing, type Sharing } from './share.ts';
import type { ShareOptions } from './share-options.ts';

export interface ShareWithContactsOptions
  extends ShareOptions,
    Pick<LinksToOptions, 'directory' | 'names' | 'askPassphrase'> {}

/**
 * Shares a folder as `share` does, and invites contacts to it without a daemon of ours, each as soon as it is there.
 *
 * @throws as `share` does; CONTACT_UNKNOWN, CONTACT_BLOCKED for one that we have blocked, CONTACTS_CORRUPT, IDENTITY_*
 */
export async function shareWithContacts(options: ShareWithContactsOptions): Promise<void> {
  const onLost = ({ message }: KeibiError) =>
    options.onEvent({ type: 'warning', message: `${message} It is tried again.` });
  const onRenewed = (name: string) => options.onEvent({ type: 'warning', message: renewedText(name) });
  await withLinksTo({ ...options, onLost, onRenewed }, async (contacts, links) => {
    const sharing = await openSharing(options);
    try {
      for (const contact of contacts) void invite(contact, sharing, links, options);
      await sharing.ended;
    } finally {
      await sharing.close();
    }
  });
}

/** A contact that declines is reported; the other invitations continue. */
async function invite(
  contact: Contact,
  sharing: Sharing,
  links: Pick<ContactLinks, 'isOnline' | 'untilOnline' | 'deliver'>,
  { signal, onEvent }: Pick<ShareOptions, 'signal' | 'onEvent'>,
): Promise<void> {
  const { name } = contact;
  try {
    if (!links.isOnline(contact)) onEvent({ type: 'inviting', contact: name, state: 'absent' });
    await links.untilOnline(contact, { signal });
    const { text: code } = await sharing.invite();
    const invitation = { id: randomBytes(INVITATION_ID_BYTES), code, label: sharing.name, to: 'share' as const };
    onEvent({ type: 'inviting', contact: name, state: 'invited' });
    const verdict = await links.deliver(contact, invitation, { signal });
    if (verdict !== 'taken') throw refusedBy(name, verdict);
    onEvent({ type: 'inviting', contact: name, state: 'taken' });
  } catch (reason) {
    if (signal.aborted) return;
    onEvent({ type: 'warning', message: KeibiError.from(reason, 'INTERNAL').message });
  }
}
