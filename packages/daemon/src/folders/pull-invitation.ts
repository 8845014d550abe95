// SPDX-License-Identifier: MPL-2.0
import { formatHostPort } from '@keibidrop/discovery';
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import type { ShareGuest } from '@keibidrop/share';
import type { Shares } from './shares.ts';

/** How to receive the data of a pull. */
export type PullInvitation = Pick<local.ReceiveRequest, 'code' | 'near' | 'connect' | 'reach'>;

/**
 * Requests a code from the sharer, valid for one receive of the given paths.
 *
 * @param paths  as clients name them, all of one share
 * @throws SHARE_*, USAGE; `signal.reason`
 */
export async function invitationTo(
  shares: Shares,
  paths: readonly string[],
  { signal }: { signal: AbortSignal },
): Promise<PullInvitation> {
  const found = paths.map((path) => shares.find(path));
  const [first] = found;
  if (first === undefined) throw new KeibiError('USAGE', 'Say what to pull.');
  const { guest } = first;
  if (found.some((other) => other.guest !== guest)) throw new KeibiError('USAGE', 'One pull takes from one share.');
  const within = found.map(({ path }) => path);
  const code = await guest.invitation(within, { signal });
  const { connect, reach } = shares.requestOf(first.view.id);
  return { code: code.text, near: placeOf(guest), connect, reach };
}

/** The sharer's current address, for the transfer that follows. */
function placeOf({ place }: ShareGuest): string | undefined {
  return place === undefined ? undefined : formatHostPort(place);
}
