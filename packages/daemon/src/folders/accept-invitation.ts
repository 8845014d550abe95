// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { errorOf, type LocalError } from '../local/local-error.ts';
import { notInvited } from './share-unknown.ts';
import type { SharesOptions } from './shares-options.ts';

/**
 * Accepts a contact's invitation to a share, and waits until the share is open.
 *
 * @throws SHARE_UNKNOWN if there is no such invitation; the error that kept the share from opening; `signal.reason` on abort
 */
export async function acceptInvitation(
  name: string,
  isIts: (contact: unknown) => boolean,
  { questions, events, signal }: Pick<SharesOptions, 'questions' | 'events'> & { signal: AbortSignal },
): Promise<local.Share> {
  const asked = questions.list().find(({ kind, json }) => {
    const { contact, to } = JSON.parse(json) as { contact?: unknown; to?: unknown };
    return kind === 'invitation' && to === 'share' && isIts(contact);
  });
  if (asked === undefined) throw notInvited(name);
  const happening = events.watch(() => [], { progress: false, files: false }, signal);
  await happening.next();
  questions.answer(asked.question, { answer: 'yes', always: false });
  for await (const { json } of happening) {
    const { event, error, ...share } = JSON.parse(json) as { event: string; error?: LocalError } & local.Share;
    if (event === 'share' && isIts(share.contact)) return share;
    if (event === 'shareEnded' && isIts(share.contact) && error) throw errorOf(error);
  }
  throw new KeibiError('DAEMON_LOST');
}
