// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { type HostPort, type Observation, reachableAddresses } from '@keibidrop/discovery';
import type { Candidate } from '@keibidrop/protocol';

/** What is known of where a sender can be dialled. */
export interface OwnPort {
  /** As it listens. */
  readonly listening: HostPort;
  /** As a rendezvous sees it. */
  readonly observed?: Observation | undefined;
  /** As its router says that it leads to it. */
  readonly mapped?: HostPort | undefined;
}

/** Whether what listens there takes connections to every address of the machine, and so those that routers pass on. */
export function isBoundToAll({ host }: HostPort): boolean {
  return host === '::' || host === '0.0.0.0';
}

/**
 * What a sender tells of itself beside a relay, best first (PROTOCOL 2.2).
 * @param own  the addresses under which this machine is reached without any router's help
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
  // A router may pass our port on, and a rented machine may not know its public address.
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

/** What the listening port is outside: as it was seen, or as another port was that kept its number. */
function punchable({ host, port, fromPort }: Observation, listening: number): HostPort | undefined {
  if (fromPort === listening) return { host, port };
  return port === fromPort ? { host, port: listening } : undefined;
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}
