// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import { dialRendezvous } from '../dial/dial-rendezvous.ts';
import { createDirectTransport } from '../direct.ts';
import { formatHostPort, type HostPort } from '../host-port.ts';
import { createRegistryTransport } from '../registry.ts';
import type { Transport } from '../transport.ts';
import { type FailedJoin, type JoinedMailbox, merged, raceJoins } from './join-race.ts';
import type { GuestConversation, JoinOptions } from './rendezvous-client.ts';

export interface FindRendezvousOptions {
  /** 32 bytes as lower hex. */
  mailbox: string;
  /** An address the user has named; no other is tried. */
  connect?: HostPort | undefined;
  /** A public rendezvous, tried last. */
  rendezvous?: HostPort | undefined;
  /** The first is searched before the others, which run in parallel. Absent: this machine's registry. Empty: only the rendezvous is asked. */
  transports?: readonly Transport[];
  signal: AbortSignal;
}

/** The sender at a remembered address may have moved, so a try there is short. */
const REMEMBERED_TIMEOUT_MS = 2000;
/** How long the local network is searched before a public rendezvous sees the request. */
const NEAR_HEAD_START_MS = 300;

/**
 * Yields where the owner of a mailbox may be waiting, in the order worth trying. Finding nothing is not an error here.
 *
 * The first transport is searched alone, then the slower others in parallel, then the first again, because a sender may have started
 * meanwhile. The consumer asks for the next place when the earlier ones have failed, or to try one in parallel.
 */
export async function* findRendezvous(options: FindRendezvousOptions): AsyncGenerator<Candidate> {
  const { mailbox, connect, rendezvous, signal } = options;
  const transports = connect ? [createDirectTransport(connect)] : (options.transports ?? [createRegistryTransport()]);
  const [first, ...others] = transports.map((transport) => () => transport.find(mailbox, { signal }));
  if (first) yield* first();
  const looks = others.map((find) => find());
  if (!connect && rendezvous) looks.push(later({ transport: 'rendezvous', ...rendezvous }, looks.length > 0, signal));
  yield* merged(looks);
  if (first && others.length > 0) yield* first();
}

/** Yields the public rendezvous, delayed if a network is searched too, so that a nearby sender is met there first. */
async function* later(place: Candidate, afterOthers: boolean, signal: AbortSignal): AsyncGenerator<Candidate> {
  if (afterOthers) await setTimeout(NEAR_HEAD_START_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  yield place;
}

/**
 * Enters the mailbox at `place` as a guest. Loads gRPC while it dials.
 * @throws  RENDEZVOUS_NOT_FOUND, RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
 */
export async function joinMailbox(
  place: HostPort,
  mailbox: string,
  options: JoinOptions & { fromPort?: number },
): Promise<GuestConversation> {
  const dialling = dialRendezvous(place, options);
  const [connection, { joinOver }] = await Promise.all([dialling, import('./rendezvous-client.ts')]);
  return joinOver(connection, place, mailbox, options);
}

/**
 * Enters the mailbox at the first place that has it. `detail.attempts` of an error has each place's own error.
 *
 * @throws  RENDEZVOUS_NOT_FOUND saying what was tried and what to do;
 *          PEER_UNREACHABLE if nothing answers at `connect`, or a sender was heard on the network and cannot be dialled;
 *          RENDEZVOUS_BUSY if the mailbox was found and is full;
 *          RENDEZVOUS_UNREACHABLE if no place has the mailbox and `rendezvous` does not answer; `signal.reason` on abort
 */
export async function joinAnywhere(options: FindRendezvousOptions & JoinOptions): Promise<JoinedMailbox> {
  const { mailbox, openChannel, signal } = options;
  const { joined, attempts } = await raceJoins({
    places: (over) => findRendezvous({ ...options, signal: over }),
    join: (place, over) => {
      // Dial from a reusable port: the server may report our address there to the sender.
      const fromPort = place.transport === 'rendezvous' ? { fromPort: 0 } : {};
      const patience = isRemembered(place, options)
        ? AbortSignal.any([over, AbortSignal.timeout(REMEMBERED_TIMEOUT_MS)])
        : over;
      return joinMailbox(place, mailbox, { openChannel, signal: patience, ...fromPort });
    },
    signal,
  });
  if (joined) return joined;
  // An empty remembered address is not worth reporting.
  const telling = attempts.filter(
    ({ place, error }) => !isRemembered(place, options) || error.code === 'RENDEZVOUS_BUSY',
  );
  throw notFound(options, telling);
}

/** A direct address that the user did not name is a remembered one. */
function isRemembered({ transport }: Candidate, { connect }: FindRendezvousOptions): boolean {
  return connect === undefined && transport === 'direct';
}

function notFound(options: FindRendezvousOptions, attempts: readonly FailedJoin[]): KeibiError {
  const detail = {
    attempts: attempts.map(({ place, error }) => ({
      transport: place.transport,
      address: formatHostPort(place),
      error,
    })),
  };
  const busy = attempts.find(({ error }) => error.code === 'RENDEZVOUS_BUSY');
  if (busy) return new KeibiError('RENDEZVOUS_BUSY', busy.error.message, { detail });
  const { connect } = options;
  const dead = attempts.some(({ error }) => isDown(error));
  if (connect && dead) {
    const text = `Nothing answers at ${formatHostPort(connect)}. Check the address, and that the sender is still running. A firewall there may be in the way: keibidrop help firewalls.`;
    return new KeibiError('PEER_UNREACHABLE', text, { detail });
  }
  const heard = attempts.filter(({ place, error }) => place.transport === 'lan' && isDown(error));
  if (heard.length > 0) return heardOnly(heard, options, detail);
  // The mailbox is nowhere else, and the rendezvous cannot say whether it has it.
  const down = attempts.find(({ place, error }) => place.transport === 'rendezvous' && isDown(error));
  if (down) {
    const text = `${down.error.message} Check its address and the network, with keibidrop doctor; no other place knows the code.`;
    return new KeibiError('RENDEZVOUS_UNREACHABLE', text, { detail });
  }
  return new KeibiError('RENDEZVOUS_NOT_FOUND', `${triedWhat(options)} ${doWhat(options)}`, { detail });
}

/** Multicast passes firewalls that block incoming connections. */
function heardOnly(
  heard: readonly FailedJoin[],
  options: FindRendezvousOptions,
  detail: Record<string, unknown>,
): KeibiError {
  const places = heard.map(({ place }) => formatHostPort(place)).join(', ');
  const ports = [...new Set(heard.map(({ place }) => place.port))].join(', ');
  const { rendezvous } = options;
  const elsewhere = rendezvous ? ` and not at the rendezvous ${formatHostPort(rendezvous)}` : '';
  const text = [
    `A sender with that number was heard on this network (mDNS) at ${places}, but no connection to it could be made${whyOf(heard)}.`,
    `It was not found on this machine${elsewhere} either.`,
    `Let TCP port ${ports} through the sender's firewall, or give both sides a --rendezvous that relays: keibidrop help firewalls has more.`,
  ];
  return new KeibiError('PEER_UNREACHABLE', text.join(' '), { detail });
}

/** The system's text for the last failure, if any. */
function whyOf(heard: readonly FailedJoin[]): string {
  let cause: unknown = heard.at(-1)?.error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error && !(cause instanceof KeibiError) ? ` (${cause.message})` : '';
}

function isDown({ code }: KeibiError): boolean {
  return code === 'RENDEZVOUS_UNREACHABLE';
}

function triedWhat({ connect, rendezvous, transports }: FindRendezvousOptions): string {
  if (connect) return `The sender at ${formatHostPort(connect)} does not wait under that number.`;
  const lan = transports?.some(({ name }) => name === 'lan');
  const places = transports?.length === 0 ? [] : [lan ? 'on this machine or this network' : 'on this machine'];
  if (rendezvous) places.push(`at the rendezvous ${formatHostPort(rendezvous)}`);
  return `No sender is waiting under that number ${places.join(' or ')}.`;
}

function doWhat({ connect }: FindRendezvousOptions): string {
  return connect
    ? 'Check the number in front of the code, and the address.'
    : 'Check the code and that the sender is still running; if it runs elsewhere, add --connect HOST:PORT, or see keibidrop help firewalls.';
}
