// SPDX-License-Identifier: MPL-2.0
import type { LocalClient } from '@keibidrop/daemon';

/** An offer of files, a text or a share from a contact. */
export interface Invitation {
  number: number;
  contact: string;
  verified: boolean;
  to: 'files' | 'text' | 'share';
  label: string;
}

/** The pending invitations of contacts. */
export async function invitationsOf(daemon: LocalClient, signal: AbortSignal): Promise<Invitation[]> {
  const { questions } = await daemon.call('questions', {}, { signal });
  return questions
    .filter(({ kind }) => kind === 'invitation')
    .map(({ question: number, json }) => ({ number, ...(JSON.parse(json) as Omit<Invitation, 'number'>) }));
}
