// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { ReturnSecret } from '@keibidrop/session';
import { type MeetOptions, type MetSender, meetSender } from '../meet-sender.ts';
import type { ShareMemory } from './known-shares.ts';

export interface MeetShareOptions extends MeetOptions {
  memory: ShareMemory;
  /** A person has just given the code, so it may be used if the share does not know this guest any more. */
  codeGiven: boolean;
  /** The share was met by its secret before: without one there is no way to it. */
  met: boolean;
  /** Called with SHARE_FORGOTTEN before the code is used once more. */
  onTrouble?: ((error: KeibiError) => void) | undefined;
}

const CODE_AGAIN = 'The computer that shares does not know this one any more, so the code is used once more.';

/**
 * Meets whoever shares: by this guest's own secret, and by the code only where there is none yet (PROTOCOL 3.2).
 *
 * Anybody can say that the secret is not known. A code that no person has just given is not used because of that.
 *
 * @throws SHARE_FORGOTTEN; what meetSender throws
 */
export async function meetShare(options: MeetShareOptions): Promise<MetSender> {
  const { memory, codeGiven, met, onTrouble } = options;
  const secret = await memory.secret();
  if (secret === undefined) {
    if (met && !codeGiven) throw new KeibiError('SHARE_FORGOTTEN');
    return meetSender(options);
  }
  const known = await ReturnSecret.ofGuest(secret);
  secret.fill(0);
  try {
    return await meetSender({ ...options, known });
  } catch (reason) {
    if (!isForgotten(reason)) throw reason;
    if (!codeGiven) throw new KeibiError('SHARE_FORGOTTEN', undefined, { cause: reason });
    onTrouble?.(new KeibiError('SHARE_FORGOTTEN', CODE_AGAIN));
    return meetSender(options);
  } finally {
    known.wipe();
  }
}

function isForgotten(reason: unknown): boolean {
  return reason instanceof KeibiError && reason.detail?.forgotten === true;
}
