// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import {
  createDirectTransport,
  createLanTransport,
  createRegistryTransport,
  createRememberedTransport,
  dialableRelay,
  type JoinedMailbox,
  joinAnywhere,
  type MetAt,
  mayDialPeer,
  parseRendezvous,
  rememberAddress,
  type Transport,
} from '@keibidrop/discovery';
import { type Candidate, type ErrorCode, KeibiError, mailboxOf } from '@keibidrop/protocol';
import {
  CandidateExchange,
  type Meeting,
  meetAgainAsGuest,
  meetAsGuest,
  openGrpcChannel,
  prepareHandshake,
  type ReturnSecret,
} from '@keibidrop/session';
import type { ReceiveOptions } from '../api.ts';
import { dialSender, type ReachedSender } from './dial-sender.ts';
import { announcedBy, fromOwnPort } from './punch-candidates.ts';
import { relayNotNamed } from './sender-reach.ts';

/** The options for meeting a peer that waits under a code. */
export type MeetOptions = Pick<
  ReceiveOptions,
  'addressFile' | 'code' | 'connect' | 'near' | 'onEvent' | 'patienceMs' | 'reach' | 'signal' | 'suite'
> & {
  /**
   * A secret of ours that the peer knows. It replaces the code, of which only the number is used (PROTOCOL 3.2). The caller
   * keeps ownership.
   */
  known?: ReturnSecret | undefined;
};

const MEETING_TIMEOUT_MS = 30_000;
/** A script, or two quick people, may start the receiver a moment before the sender. */
const SENDER_GRACE_MS = 3000;
const SENDER_RETRY_MS = 40;
/** A server is polled less often than this machine. */
const RENDEZVOUS_RETRY_MS = 500;
/** After this time the user wants to know why it takes so long. */
const LOOKING_NOTICE_MS = 500;
/** Limit of relays per sender; our own sender names one. */
const MAX_RELAYS = 4;
const ABSENT: readonly ErrorCode[] = ['RENDEZVOUS_NOT_FOUND', 'RENDEZVOUS_UNREACHABLE', 'PEER_UNREACHABLE'];

interface SenderAddresses {
  readonly candidates: Candidate[];
  /** Candidates of the sender that the policy forbids to dial. */
  readonly refused: Candidate[];
}

/** A peer that was met and reached, and all addresses it has sent. */
export interface FoundSender {
  readonly reached: ReachedSender;
  readonly announced: readonly Candidate[];
}

/**
 * Finds the peer that waits under a code, proves the code, or `known`, and runs the handshake.
 *
 * @throws RENDEZVOUS_*, PEER_*, CODE_*, HANDSHAKE_*; `signal.reason` on abort
 */
export async function findSender(options: MeetOptions): Promise<FoundSender> {
  const prepared = prepareHandshake('initiator');
  prepared.catch(() => {});
  let met: Meeting | undefined;
  try {
    const { meeting, candidates, refused } = await meet(options);
    met = meeting;
    const reached = await dialSender(candidates, meeting, prepared, { ...options, refused });
    meeting.wipe();
    await remember(reached, options);
    return { reached, announced: candidates };
  } finally {
    met?.wipe();
    // Unused if the handshake was never reached; wiping twice is harmless.
    void prepared.then(
      ({ wipe }) => wipe(),
      () => {},
    );
  }
}

/** Stores an address at which the sender has proved itself, for networks where multicast does not find it. */
async function remember({ candidate, path }: ReachedSender, { reach, addressFile }: MeetOptions): Promise<void> {
  if (addressFile === undefined || reach.discovery === 'off' || (path !== 'lan' && path !== 'direct')) return;
  await rememberAddress(addressFile, candidate);
}

/** Finds the sender's mailbox, proves the code, and receives the addresses to dial. */
async function meet(options: MeetOptions): Promise<{ meeting: Meeting } & SenderAddresses> {
  const { code, known } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(MEETING_TIMEOUT_MS)]);
  try {
    const { pipe, place } = await tellingWhileLooking(options, () => joinPatiently(searchOf(options, signal)));
    const meeting = await (known ? meetAgainAsGuest(pipe, known, { signal }) : meetAsGuest(pipe, code, { signal }));
    return { meeting, ...(await addressesOf({ pipe, place }, meeting, options, signal)) };
  } catch (reason) {
    options.signal.throwIfAborted();
    if (signal.aborted) throw new KeibiError('HANDSHAKE_TIMEOUT', undefined, { cause: reason });
    throw reason;
  }
}

/** Finds the mailbox of a sender whose session was lost, and receives its current addresses. */
export async function meetAgain(options: MeetOptions, secret: ReturnSecret, signal: AbortSignal) {
  const { pipe, place } = await joinAnywhere(searchOf(options, signal));
  const meeting = await meetAgainAsGuest(pipe, secret, { signal });
  try {
    return { meeting, ...(await addressesOf({ pipe, place }, meeting, options, signal)) };
  } catch (reason) {
    meeting.wipe();
    throw reason;
  }
}

/** Where and how to look for the mailbox. */
function searchOf(
  { code, connect, near, reach, addressFile }: MeetOptions,
  signal: AbortSignal,
): Parameters<typeof joinAnywhere>[0] {
  const rendezvous = reach.rendezvous === undefined ? undefined : parseRendezvous(reach.rendezvous);
  if (reach.relayOnly && rendezvous === undefined) throw relayNotNamed();
  const mailbox = mailboxOf(code.nameplate);
  return {
    mailbox,
    connect,
    rendezvous,
    transports: [...(near === undefined ? [] : [createDirectTransport(near)]), ...searchedBy(reach, addressFile)],
    openChannel: openGrpcChannel,
    signal,
  };
}

/** Exchanges addresses with a sender, and sorts out those that it may not make us dial. Ends the conversation. */
async function addressesOf(
  { pipe, place }: JoinedMailbox,
  meeting: Meeting,
  { connect, reach }: MeetOptions,
  signal: AbortSignal,
): Promise<SenderAddresses> {
  const exchange = new CandidateExchange(pipe, meeting, 'guest');
  try {
    const observed = reach.relayOnly ? undefined : pipe.observed;
    await exchange.send(announcedBy(observed));
    const named = await exchange.receive({ signal });
    // The mailbox's own place is the surest path to the sender, and the only one if the user named it. A public rendezvous is
    // no sender.
    if (connect !== undefined) return { candidates: [place], refused: [] };
    const { dialable, refused } = await sortOut(named, metAt({ pipe, place }, reach), reach);
    const candidates = fromOwnPort(dialable, observed);
    return { candidates: place.transport === 'rendezvous' ? candidates : [place, ...candidates], refused };
  } finally {
    exchange.close();
  }
}

/** How we came to the sender. Only the rendezvous that the user named may say where it relays. */
function metAt({ pipe, place }: JoinedMailbox, { rendezvous }: MeetOptions['reach']): MetAt {
  const { address, relay } = pipe;
  const atRendezvous = place.transport === 'rendezvous';
  return {
    address,
    rendezvous: rendezvous === undefined ? undefined : parseRendezvous(rendezvous),
    reachedRendezvous: atRendezvous,
    relay: atRendezvous ? relay : undefined,
  };
}

/** With `--relay-only` the peer may not bring its own relay, which would see the address of the guest. */
async function sortOut(named: readonly Candidate[], met: MetAt, { relayOnly }: MeetOptions['reach']) {
  const dialable: Candidate[] = [];
  const refused: Candidate[] = [];
  let relays = 0;
  for (const candidate of named) {
    const { transport, host } = candidate;
    if (transport === 'relay' && ++relays <= MAX_RELAYS) {
      const relay = await dialableRelay(candidate, met, { vouched: relayOnly });
      if (relay !== undefined) dialable.push({ ...candidate, ...relay });
      else refused.push(candidate);
    } else if (transport !== 'relay' && mayDialPeer(host, met)) dialable.push(candidate);
    else refused.push(candidate);
  }
  return { dialable, refused };
}

/** The transports to search before the public rendezvous: none with a relay only. */
function searchedBy({ discovery, relayOnly }: MeetOptions['reach'], addressFile: string | undefined): Transport[] {
  if (relayOnly) return [];
  if (discovery === 'off') return [createRegistryTransport()];
  const remembered = addressFile === undefined ? [] : [createRememberedTransport(addressFile)];
  return [createRegistryTransport(), createLanTransport({ discovery }), ...remembered];
}

/** Reports that the networks are searched, if that takes a moment. */
async function tellingWhileLooking<T>({ connect, reach, onEvent }: MeetOptions, look: () => Promise<T>): Promise<T> {
  if (connect || reach.relayOnly || reach.discovery === 'off') return look();
  const timer = globalThis.setTimeout(() => onEvent({ type: 'looking' }), LOOKING_NOTICE_MS);
  return look().finally(() => clearTimeout(timer));
}

/** Keeps looking for a short while if no sender waits yet. */
async function joinPatiently(find: Parameters<typeof joinAnywhere>[0]): Promise<JoinedMailbox> {
  const deadline = performance.now() + SENDER_GRACE_MS;
  for (;;) {
    try {
      return await joinAnywhere(find);
    } catch (reason) {
      const absent = reason instanceof KeibiError && ABSENT.includes(reason.code);
      if (!absent || performance.now() > deadline) throw reason;
      await setTimeout(find.rendezvous ? RENDEZVOUS_RETRY_MS : SENDER_RETRY_MS, undefined, { signal: find.signal });
    }
  }
}
