// SPDX-License-Identifier: MPL-2.0
import type { Observation } from '@keibidrop/discovery';
import type { Candidate } from '@keibidrop/protocol';

/** Our candidate for a sender: the port from which we dial it, as the rendezvous sees it (PROTOCOL 2.5). */
export function announcedBy(observed: Observation | undefined): Candidate[] {
  return observed === undefined ? [] : [{ transport: 'punched', host: observed.host, port: observed.port }];
}

/**
 * The sender's candidates as we dial them. Punched ones are dialled from the port that we have sent to the sender, and left out
 * if we have sent none.
 *
 * The sender dials as soon as it knows our port, so this path is tried second. If both are behind one address, it leads to that
 * router and back, and is tried last.
 */
export function fromOwnPort(announced: readonly Candidate[], observed: Observation | undefined): Candidate[] {
  const isPunched = ({ transport }: Candidate) => transport === 'punched';
  const others = announced.filter((each) => !isPunched(each));
  if (observed === undefined) return others;
  const punched = announced.filter(isPunched).map((each) => ({ ...each, fromPort: observed.fromPort }));
  const nearby = punched.some(({ host }) => host === observed.host);
  return nearby ? [...others, ...punched] : [...others.slice(0, 1), ...punched, ...others.slice(1)];
}
