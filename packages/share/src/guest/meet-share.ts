// SPDX-License-Identifier: MPL-2.0

import { type FoundSender, findSender, type MeetOptions } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import { ReturnSecret } from '@keibidrop/session';
import type { ShareMemory } from './known-shares.ts';

export interface MeetShareOptions extends MeetOptions {
  memory: ShareMemory;
  /** A person has just entered the code, so it may be used if the share no longer knows this guest. */
  codeGiven: boolean;
  /** The share was met by its secret before: if the secret is missing, it cannot be reached. */
  met: boolean;
  /** Called with SHARE_FORGOTTEN before the code is used again. */
  onTrouble?: ((error: KeibiError) => void) | undefined;
}

const CODE_AGAIN = 'The computer that shares does not know this one any more, so the code is used once more.';

/**
 * Meets the sharing peer: by this guest's secret, and by the code only if there is no secret yet (PROTOCOL 3.2).
 *
 * An attacker can claim that the secret is unknown, so the code is then used only if a person has just entered it.
 *
 * @throws SHARE_FORGOTTEN; errors of findSender
 */
export async function meetShare(options: MeetShareOptions): Promise<FoundSender> {
  const { memory, codeGiven, met, onTrouble } = options;
  const secret = await memory.secret();
  if (secret === undefined) {
    if (met && !codeGiven) throw new KeibiError('SHARE_FORGOTTEN');
    return findSender(options);
  }
  const known = await ReturnSecret.ofGuest(secret);
  secret.fill(0);
  try {
    return await findSender({ ...options, known });
  } catch (reason) {
    if (!isForgotten(reason)) throw reason;
    if (!codeGiven) throw new KeibiError('SHARE_FORGOTTEN', undefined, { cause: reason });
    onTrouble?.(new KeibiError('SHARE_FORGOTTEN', CODE_AGAIN));
    return findSender(options);
  } finally {
    known.wipe();
  }
}

function isForgotten(reason: unknown): boolean {
  return reason instanceof KeibiError && reason.detail?.forgotten === true;
}
