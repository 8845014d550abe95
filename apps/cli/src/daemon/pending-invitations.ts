// SPDX-License-Identifier: MPL-2.0
import type { InvitationView, LocalClient } from '@keibidrop/daemon';

/** A contact's offer of files, a text or a share. */
export interface Invitation extends InvitationView {
  number: number;
}

/** The pending invitations of contacts. */
export async function invitationsOf(daemon: LocalClient, signal: AbortSignal): Promise<Invitation[]> {
  const { questions } = await daemon.call('questions', {}, { signal });
  return questions.flatMap(({ question: number, about }) =>
    about?.$case === 'invitation' ? [{ number, ...about.value }] : [],
  );
}
