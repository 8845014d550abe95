// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import { dialRendezvous } from './dial-rendezvous.ts';
import { createDirectTransport } from './direct.ts';
import { formatHostPort, type HostPort } from './host-port.ts';
import { type FailedJoin, type JoinedMailbox, merged, raceJoins } from './join-race.ts';
import { createRegistryTransport } from './registry.ts';
import type { GuestConversation, JoinOptions } from './rendezvous-client.ts';
import type { Transport } from './transport.ts';

export interface FindRendezvousOptions {
  /** 32 bytes as lower hex. */
  mailbox: string;
  /** The address a person has named: the only one that is tried. */
  connect?: HostPort | undefined;
  /** A public rendezvous, tried last. */
  rendezvous?: HostPort | undefined;
  /** The first before the others, which search side by side; this machine's registry alone if absent. None: only the rendezvous is asked. */
  transports?: readonly Transport[];
  signal: AbortSignal;
}

/** Whoever was once at a remembered address may be far away now: nobody waits for that. */
const REMEMBERED_TIMEOUT_MS = 2000;
/** How long a network is asked before a public rendezvous hears of a meeting. */
const NEAR_HEAD_START_MS = 300;

/**
 * Yields where the owner of a mailbox may be waiting, in the order worth trying. Finding nothing is no error here.
 *
 * The first transport comes before the others, which look side by side and take longer, and once more after them: a sender may have come
 * meanwhile. Whoever asks for the next place has given up on the ones before, or wants another beside them.
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

/** The public rendezvous; where a network is searched too, a sender that is near is met there. */
async function* later(place: Candidate, afterOthers: boolean, signal: AbortSignal): AsyncGenerator<Candidate> {
  if (afterOthers) await setTimeout(NEAR_HEAD_START_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  yield place;
}

/**
 * Enters the mailbox at `place` as a guest. gRPC is loaded while the connection is made.
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
 * Enters the mailbox at the first place where it is.
 *
 * @throws  RENDEZVOUS_NOT_FOUND saying what was tried and what to do; PEER_UNREACHABLE if nothing answers where `connect` points;
 *          PEER_UNREACHABLE if a sender was heard on the network and cannot be dialled; RENDEZVOUS_BUSY if the mailbox was found and had no room; RENDEZVOUS_UNREACHABLE if it was nowhere else and `rendezvous` does
 *          not answer; `signal.reason` on abort. `detail.attempts` has each place's error.
 */
export async function joinAnywhere(options: FindRendezvousOptions & JoinOptions): Promise<JoinedMailbox> {
  const { mailbox, openChannel, signal } = options;
  const { joined, attempts } = await raceJoins({
    places: (over) => findRendezvous({ ...options, signal: over }),
    join: (place, over) => {
      // A port that can be dialled from again: the sender may be told how the server sees it.
      const fromPort = place.transport === 'rendezvous' ? { fromPort: 0 } : {};
      const patience = isRemembered(place, options)
        ? AbortSignal.any([over, AbortSignal.timeout(REMEMBERED_TIMEOUT_MS)])
        : over;
      return joinMailbox(place, mailbox, { openChannel, signal: patience, ...fromPort });
    },
    signal,
  });
  if (joined) return joined;
  // That nobody waits at an old address is no news.
  const telling = attempts.filter(
    ({ place, error }) => !isRemembered(place, options) || error.code === 'RENDEZVOUS_BUSY',
  );
  throw notFound(options, telling);
}

/** A direct address that nobody has named is one where a sender was once. */
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
    const text = `Nothing answers at ${formatHostPort(connect)}. Check the address, and that the sender is still running.`;
    return new KeibiError('PEER_UNREACHABLE', text, { detail });
  }
  const heard = attempts.filter(({ place, error }) => place.transport === 'lan' && isDown(error));
  if (heard.length > 0) return heardOnly(heard, options, detail);
  // It is nowhere else, and whether it waits there nobody knows.
  const down = attempts.find(({ place, error }) => place.transport === 'rendezvous' && isDown(error));
  if (down) {
    const text = `${down.error.message} Check its address and the network; the code is not known anywhere else.`;
    return new KeibiError('RENDEZVOUS_UNREACHABLE', text, { detail });
  }
  return new KeibiError('RENDEZVOUS_NOT_FOUND', `${triedWhat(options)} ${doWhat(options)}`, { detail });
}

/** Multicast comes through a firewall that lets no connection in. */
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
    `Let TCP port ${ports} through the sender's firewall, or give both sides a --rendezvous that relays.`,
  ];
  return new KeibiError('PEER_UNREACHABLE', text.join(' '), { detail });
}

/** The system's own words for the last failure, if it has any. */
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
  return `Nobody is waiting under that number ${places.join(' or ')}.`;
}

function doWhat({ connect }: FindRendezvousOptions): string {
  return connect
    ? 'Check the number in front of the code, and the address.'
    : 'Check the code and that the sender is still running; if it runs elsewhere, add --connect HOST:PORT.';
}
