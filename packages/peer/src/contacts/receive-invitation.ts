// SPDX-License-Identifier: MPL-2.0
import { parseCode } from '@keibidrop/protocol';
import type { ReceiveOptions, ReceiveResult } from '../api.ts';
import type { PeerEvent } from '../events.ts';
import { receive } from '../receive.ts';
import type { ReceivedInvitation } from './received-invitations.ts';

/**
 * Receives a transfer that a contact invited us to: into the folder of its rule without a question, else as `options`
 * say.
 *
 * Notifies the contact that the invitation is accepted. The contact appears under its saved name, not the one it
 * claims. To refuse the invitation, answer it instead.
 *
 * @throws as `receive`; the reason of the withdrawal
 */
export async function receiveInvitation(
  invitation: ReceivedInvitation,
  options: Omit<ReceiveOptions, 'code' | 'connect'>,
): Promise<ReceiveResult> {
  invitation.signal.throwIfAborted();
  const { contact, folder } = invitation;
  const { name, verified } = contact;
  const { confirm } = options;
  invitation.answer('taken');
  const result = await receive({
    ...options,
    code: parseCode(invitation.code),
    out: folder ?? options.out,
    confirm: folder === undefined && confirm ? (offer) => confirm({ ...offer, peer: name }) : undefined,
    onEvent: (event) => options.onEvent(named(event, name, verified)),
  });
  return { ...result, peer: name };
}

function named(event: PeerEvent, contact: string, verified: boolean): PeerEvent {
  if (event.type === 'connected') return { ...event, peer: contact, contact, verified };
  return 'session' in event || event.type === 'offer' ? { ...event, contact } : event;
}
