// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import {
  type Attempt,
  createDirectTransport,
  createLanTransport,
  createMappedTransport,
  createPunchTransport,
  createRegistryTransport,
  createRelayTransport,
  dialRace,
  formatHostPort,
  type RaceResult,
} from '@keibidrop/discovery';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import {
  handshakeAsInitiator,
  type Keys,
  type Meeting,
  type PreparedHandshake,
  prepareHandshake,
} from '@keibidrop/session';
import type { ReceiveOptions } from '../api.ts';
import type { PathName, TriedWay } from '../events.ts';
import { pathTo, suiteOffer } from '../suites.ts';

/** A sender after a completed handshake. */
export interface ReachedSender {
  readonly socket: Socket;
  readonly keys: Keys;
  /** The address that was dialled. */
  readonly candidate: Candidate;
  readonly path: PathName;
  /** The other paths that were tried. */
  readonly tried: readonly TriedWay[];
}

type DialOptions = Pick<ReceiveOptions, 'suite' | 'reach' | 'connect' | 'signal'> & {
  claim?(): void;
  refused?: readonly Candidate[];
};

const REFUSED = 'It is not dialled: it is neither public nor on a network of this computer.';
const REFUSED_RELAY = 'It is not dialled: it is neither public nor the host of the rendezvous.';

/** The addresses of these transports are not comparable with those of others. */
const UNLIKE = new Set(['relay', 'punched']);

/** They only dial addresses that were found or received. */
const DIALLERS = [
  createRegistryTransport(),
  createLanTransport({ discovery: 'off' }),
  createDirectTransport(),
  createMappedTransport(),
  createPunchTransport(),
  createRelayTransport(),
];

/**
 * Dials a sender on all paths at once. The first path on which it proves its identity wins.
 *
 * @param options.refused  candidates of the sender that the policy forbids to dial; reported as failed paths
 * @param options.claim  called right before our proof on a winning path; if it throws, that path ends
 * @param prepared  the keys of one handshake; the other handshakes draw their own
 * @throws PEER_UNREACHABLE, HANDSHAKE_*, SESSION_LOST; `signal.reason` on abort
 */
export async function dialSender(
  announced: readonly Candidate[],
  { attempt, auth }: Pick<Meeting, 'attempt' | 'auth'>,
  prepared: Promise<PreparedHandshake>,
  { suite, reach, connect, signal, claim, refused = [] }: DialOptions,
): Promise<ReachedSender> {
  let first: Promise<PreparedHandshake> | undefined = prepared;
  const won = await dialRace(distinct(announced.filter((candidate) => isAllowed(candidate, reach))), {
    transports: DIALLERS,
    passedOver: refused.filter((candidate) => isAllowed(candidate, reach)).map(refusedWay),
    prove: (socket, { signal: over, win }) => {
      const ownKeys = first ?? prepareHandshake('initiator');
      first = undefined;
      const beforeConfirm = () => {
        win();
        claim?.();
      };
      const meeting = { attempt, auth, prepared: ownKeys, beforeConfirm };
      return handshakeAsInitiator(socket, { ...suiteOffer(suite), ...meeting, signal: over });
    },
    advice: adviceFor(announced, { reach, named: connect !== undefined, refused }),
    signal,
  });
  const tried = won.attempts.map(triedWay);
  return { socket: won.socket, keys: won.proof, candidate: won.candidate, path: pathOf(won), tried };
}

function refusedWay({ transport, host, port }: Candidate): Attempt {
  const error = new KeibiError('PEER_UNREACHABLE', transport === 'relay' ? REFUSED_RELAY : REFUSED);
  return { transport, address: formatHostPort({ host, port }), error };
}

function isAllowed({ transport }: Candidate, { directOnly, relayOnly }: ReceiveOptions['reach']): boolean {
  return transport === 'relay' ? !directOnly : !relayOnly;
}

/** Advice for the user when no candidate leads to the sender. */
function adviceFor(
  announced: readonly Candidate[],
  { reach, named, refused }: { reach: ReceiveOptions['reach']; named: boolean; refused: readonly Candidate[] },
): string {
  const relayed = announced.some(({ transport }) => transport === 'relay');
  if (reach.directOnly && relayed) return 'It also waits at a relay, which --direct-only forbids.';
  if (reach.relayOnly && !relayed) {
    return refused.some(({ transport }) => transport === 'relay')
      ? 'With --relay-only the relay must be at the host of the rendezvous, or named by it: give both sides the same --rendezvous.'
      : 'It waits at no relay, and --relay-only forbids every other way.';
  }
  if (relayed) return 'Check that the sender is still running, and try again.';
  if (named) return 'Check the address, and that the sender is still running.';
  return 'Check that both are on one network, name the sender with --connect HOST:PORT, or give both a --rendezvous that relays.';
}

function distinct(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  const keyOf = ({ transport, host, port }: Candidate) => `${UNLIKE.has(transport) && transport} ${host} ${port}`;
  return candidates.filter((candidate) => !seen.has(keyOf(candidate)) && seen.add(keyOf(candidate)));
}

function pathOf({ candidate, socket }: RaceResult<Keys>): PathName {
  const { transport } = candidate;
  if (transport === 'relay' || transport === 'punched' || transport === 'mapped') return transport;
  return pathTo(socket.remoteAddress ?? '', { own: socket.localAddress, lan: transport === 'lan' });
}

function triedWay({ transport, address, error }: Attempt): TriedWay {
  const { cause } = error;
  return { transport, address, code: error.code, reason: cause instanceof Error ? cause.message : error.message };
}
