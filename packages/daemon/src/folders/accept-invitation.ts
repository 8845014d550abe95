// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { errorOf } from '../local/local-error.ts';
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
  const asked = questions
    .list()
    .find(({ about }) => about?.$case === 'invitation' && about.value.to === 'share' && isIts(about.value.contact));
  if (asked === undefined) throw notInvited(name);
  const happening = events.watch(() => [], { progress: false, files: false }, signal);
  await happening.next();
  questions.answer(asked.question, { answer: 'yes', always: false });
  for await (const { happened } of happening) {
    if (happened?.$case === 'share' && isIts(happened.value.contact)) return happened.value;
    if (happened?.$case !== 'shareEnded' || !isIts(happened.value.contact)) continue;
    if (happened.value.error) throw errorOf(happened.value.error);
  }
  throw new KeibiError('DAEMON_LOST');
}
