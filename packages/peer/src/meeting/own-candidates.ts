// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { type HostPort, type Observation, reachableAddresses } from '@keibidrop/discovery';
import type { Candidate } from '@keibidrop/protocol';

/** The known addresses of a sender's port. */
export interface OwnPort {
  /** The address it listens on. */
  readonly listening: HostPort;
  /** Its address as a rendezvous sees it. */
  readonly observed?: Observation | undefined;
  /** Its address as mapped by the router. */
  readonly mapped?: HostPort | undefined;
}

/** Whether the listener accepts connections to every address of the machine, and so also those that routers forward. */
export function isBoundToAll({ host }: HostPort): boolean {
  return host === '::' || host === '0.0.0.0';
}

/**
 * The candidates of a sender except its relay, best first (PROTOCOL 2.2).
 * @param own  the addresses that reach this machine without help of a router
 */
export function ownCandidates(
  { listening, observed, mapped }: OwnPort,
  own: readonly string[] = reachableAddresses(listening.host),
): Candidate[] {
  const { port } = listening;
  const direct = own.map((host) => ({ transport: 'direct', host, port }));
  if (!isBoundToAll(listening)) return direct;
  const viaRouter = mapped === undefined ? [] : [{ transport: 'mapped', host: mapped.host, port: mapped.port }];
  if (observed === undefined || isLoopback(observed.host)) return [...direct, ...viaRouter];
  // A router may forward our port, and a rented machine may not know its public address.
  const guessed = { host: observed.host, port };
  const known = own.includes(guessed.host) || (mapped?.host === guessed.host && mapped.port === port);
  const punched = punchable(observed, port);
  return [
    ...direct,
    ...viaRouter,
    ...(known ? [] : [{ transport: 'direct', ...guessed }]),
    ...(punched === undefined ? [] : [{ transport: 'punched', ...punched }]),
  ];
}

/** The outside address of the listening port: as observed, or inferred from another port whose number the router kept. */
function punchable({ host, port, fromPort }: Observation, listening: number): HostPort | undefined {
  if (fromPort === listening) return { host, port };
  return port === fromPort ? { host, port: listening } : undefined;
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}
