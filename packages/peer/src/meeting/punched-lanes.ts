// SPDX-License-Identifier: MPL-2.0
import { observePort, parseRendezvous } from '@keibidrop/discovery';
import { KeibiError } from '@keibidrop/protocol';
import { askToPunch, type Session } from '@keibidrop/session';
import type { ReceiveOptions } from '../api.ts';

/**
 * Opens one more path through the routers to a sender: sends the sender one of our ports, as the rendezvous sees it, and the
 * sender dials it.
 *
 * @returns  our port from which the sender's address must now be dialled
 * @throws RENDEZVOUS_UNREACHABLE; the call's failure; `signal.reason` on abort
 */
export async function openHole(
  client: Session['client'],
  { reach: { rendezvous }, signal }: Pick<ReceiveOptions, 'reach' | 'signal'>,
): Promise<number> {
  // Punched candidates exist only with a rendezvous.
  if (rendezvous === undefined) throw new KeibiError('INTERNAL');
  const { host, port, fromPort } = await observePort(parseRendezvous(rendezvous), { fromPort: 0, signal });
  await askToPunch(client, { host, port });
  return fromPort;
}
