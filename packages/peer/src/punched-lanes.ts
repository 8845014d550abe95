// SPDX-License-Identifier: MPL-2.0
import { observePort, parseRendezvous } from '@keibidrop/discovery';
import { KeibiError } from '@keibidrop/protocol';
import { askToPunch, type Session } from '@keibidrop/session';
import type { ReceiveOptions } from './api.ts';

/**
 * Makes one more way through the routers between us and a sender: one port of ours, as the rendezvous sees it, is told to the sender, which dials it.
 *
 * @returns  the port of ours from which the sender's address is to be dialled now
 * @throws   RENDEZVOUS_UNREACHABLE; the call's failure; `signal.reason` on abort
 */
export async function openHole(
  client: Session['client'],
  { reach: { rendezvous }, signal }: Pick<ReceiveOptions, 'reach' | 'signal'>,
): Promise<number> {
  // Without one nothing could have been punched.
  if (rendezvous === undefined) throw new KeibiError('INTERNAL');
  const { host, port, fromPort } = await observePort(parseRendezvous(rendezvous), { fromPort: 0, signal });
  await askToPunch(client, { host, port });
  return fromPort;
}
