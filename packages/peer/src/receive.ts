// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import {
  assertInterface,
  createLanTransport,
  createRegistryTransport,
  createRememberedTransport,
  type JoinedMailbox,
  joinAnywhere,
  parseRendezvous,
  rememberAddress,
  type Transport,
} from '@keibidrop/discovery';
import { RateBudget } from '@keibidrop/native';
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
import { RunTally } from '@keibidrop/transfer';
import type { ReceiveOptions, ReceiveResult } from './api.ts';
import { dialSender, type ReachedSender } from './dial-sender.ts';
import { type IncomingRun, IncomingSession, type ReceiveHooks } from './incoming-session.ts';
import { fromOwnPort, toldOf } from './own-way.ts';
import { holdingBy } from './pause-switch.ts';
import { PATIENCE_MS, reconnect } from './reconnect.ts';
import { RememberedAnswers } from './remembered-answers.ts';
import { relayNotNamed } from './sender-reach.ts';
import { isLoss } from './session-end.ts';
import { TransferClock } from './transfer-clock.ts';

const MEETING_TIMEOUT_MS = 30_000;
/** A script, or two quick people, may start the receiver a moment before the sender. */
const SENDER_GRACE_MS = 1500;
const SENDER_RETRY_MS = 40;
/** A server is asked less often than this machine. */
const RENDEZVOUS_RETRY_MS = 500;
/** When a person wants to know what takes so long. */
const LOOKING_NOTICE_MS = 500;
const LOST = 'The connection was lost.';
const ABSENT: readonly ErrorCode[] = ['RENDEZVOUS_NOT_FOUND', 'RENDEZVOUS_UNREACHABLE', 'PEER_UNREACHABLE'];

/**
 * Receives once what a code offers, over as many sessions as the network makes of it.
 *
 * @throws CONFIG_INVALID (the interface), RENDEZVOUS_*, PEER_*, CODE_*, HANDSHAKE_*, OFFER_DECLINED, SESSION_*, FRAME_*, TRANSFER_*; `signal.reason` on abort
 */
export function receive(options: ReceiveOptions): Promise<ReceiveResult> {
  return receiveWith(options, {});
}

/** Like `receive`, with hooks. */
export async function receiveWith(options: ReceiveOptions, hooks: ReceiveHooks): Promise<ReceiveResult> {
  const { signal } = options;
  signal.throwIfAborted();
  assertInterface(options.reach.discovery);
  const prepared = prepareHandshake('initiator');
  prepared.catch(() => {});
  let met: Meeting | undefined;
  try {
    const { meeting, candidates } = await meet(options);
    met = meeting;
    const reached = await dialSender(candidates, meeting, prepared, options);
    meeting.wipe();
    await remember(reached, options);
    return await new Receiving(options, hooks, candidates).run(reached);
  } finally {
    met?.wipe();
    // Not used if the handshake was never reached; wiping twice does no harm.
    void prepared.then(
      ({ wipe }) => wipe(),
      () => {},
    );
  }
}

/** Keeps an address at which the sender has proved itself, for a network where multicast does not find it. */
async function remember({ candidate, path }: ReachedSender, { reach, addressFile }: ReceiveOptions): Promise<void> {
  if (addressFile === undefined || reach.discovery === 'off' || (path !== 'lan' && path !== 'direct')) return;
  await rememberAddress(addressFile, candidate);
}

/** One run: sessions with one sender, one after the other. */
class Receiving {
  readonly #run: IncomingRun;
  /** Every address that the sender has told, the one where it was reached last in front. */
  #known: readonly Candidate[];
  /** The newest first; those before it until the sender is known to have it too. */
  #secrets: ReturnSecret[] = [];

  constructor(options: ReceiveOptions, hooks: ReceiveHooks, told: readonly Candidate[]) {
    const clock = new TransferClock();
    const { confirm, resolveCollision } = options;
    const questions = new RememberedAnswers({
      confirm: confirm && clock.stoppedWhile(confirm),
      resolveCollision: resolveCollision && clock.stoppedWhile(resolveCollision),
    });
    const { confirm: asked, resolveCollision: resolved } = questions;
    const onProven = () => this.#forget(1);
    this.#run = {
      options: { ...options, ...hooks, confirm: asked, resolveCollision: resolved },
      tally: new RunTally(),
      clock,
      budget: new RateBudget(options.limitBytesPerSecond ?? 0),
      onProven,
    };
    this.#known = told;
  }

  async run(first: ReachedSender): Promise<ReceiveResult> {
    const { options, budget } = this.#run;
    const release = options.pausing?.drive(holdingBy(budget, options.onEvent));
    try {
      for (let reached = first; ; ) {
        this.#secrets.unshift(reached.keys.returning.copy());
        this.#known = [reached.candidate, ...this.#known.filter((known) => known !== reached.candidate)];
        const session = new IncomingSession(reached, this.#run, this.#known);
        try {
          return await session.run();
        } catch (reason) {
          reached = await this.#comeBack(reason, session.stuckBecause);
        }
      }
    } finally {
      release?.();
      this.#forget(0);
    }
  }

  /** @throws `reason` if there is no coming back from it */
  async #comeBack(reason: unknown, stuckBecause: string | undefined): Promise<ReachedSender> {
    const { options } = this.#run;
    options.signal.throwIfAborted();
    const { patienceMs = PATIENCE_MS, connect } = options;
    if (patienceMs === 0 || !isLoss(reason)) throw reason;
    if (stuckBecause !== undefined) throw new KeibiError('SESSION_LOST', `${LOST} ${stuckBecause}`, { cause: reason });
    const lookAgain = async (secret: ReturnSecret, signal: AbortSignal) => {
      const found = await meetAgain(options, secret, signal);
      this.#known = [...this.#known.slice(0, 1), ...found.candidates];
      return found;
    };
    const lost = { reason, known: this.#known, secrets: this.#secrets };
    return reconnect(lost, { receive: options, lookAgain: connect === undefined ? lookAgain : undefined });
  }

  /** Keeps the newest of the secrets, so many of them. */
  #forget(kept: number): void {
    for (const secret of this.#secrets.splice(kept)) secret.wipe();
  }
}

/** Finds the sender's mailbox, proves the code, learns where to dial. */
async function meet(options: ReceiveOptions): Promise<{ meeting: Meeting; candidates: Candidate[] }> {
  const { code } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(MEETING_TIMEOUT_MS)]);
  try {
    const { pipe, place } = await tellingWhileLooking(options, () => joinPatiently(searchOf(options, signal)));
    const meeting = await meetAsGuest(pipe, code, { signal });
    return { meeting, candidates: await candidatesOf({ pipe, place }, meeting, options, signal) };
  } catch (reason) {
    options.signal.throwIfAborted();
    if (signal.aborted) throw new KeibiError('HANDSHAKE_TIMEOUT', undefined, { cause: reason });
    throw reason;
  }
}

/** Finds the mailbox of a sender whose session was lost, and learns where to dial now. */
async function meetAgain(options: ReceiveOptions, secret: ReturnSecret, signal: AbortSignal) {
  const { pipe, place } = await joinAnywhere(searchOf(options, signal));
  const meeting = await meetAgainAsGuest(pipe, secret, { signal });
  try {
    return { meeting, candidates: await candidatesOf({ pipe, place }, meeting, options, signal) };
  } catch (reason) {
    meeting.wipe();
    throw reason;
  }
}

/** Where and how the mailbox is looked for. */
function searchOf(
  { code, connect, reach, addressFile }: ReceiveOptions,
  signal: AbortSignal,
): Parameters<typeof joinAnywhere>[0] {
  const rendezvous = reach.rendezvous === undefined ? undefined : parseRendezvous(reach.rendezvous);
  if (reach.relayOnly && rendezvous === undefined) throw relayNotNamed();
  const mailbox = mailboxOf(code.nameplate);
  return {
    mailbox,
    connect,
    rendezvous,
    transports: searchedBy(reach, addressFile),
    openChannel: openGrpcChannel,
    signal,
  };
}

/** What the sender tells a guest that it has met. Ends the conversation. */
async function candidatesOf(
  { pipe, place }: JoinedMailbox,
  meeting: Meeting,
  { connect, reach }: ReceiveOptions,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const exchange = new CandidateExchange(pipe, meeting, 'guest');
  try {
    const observed = reach.relayOnly ? undefined : pipe.observed;
    await exchange.send(toldOf(observed));
    const told = fromOwnPort(await exchange.receive({ signal }), observed);
    // Where its mailbox was is the surest way to the sender, and the only one if a person named it; a public rendezvous is no sender.
    return connect !== undefined ? [place] : place.transport === 'rendezvous' ? told : [place, ...told];
  } finally {
    exchange.close();
  }
}

/** Where a sender is looked for before the public rendezvous: nowhere if only a relay may lead to it. */
function searchedBy({ discovery, relayOnly }: ReceiveOptions['reach'], addressFile: string | undefined): Transport[] {
  if (relayOnly) return [];
  if (discovery === 'off') return [createRegistryTransport()];
  const remembered = addressFile === undefined ? [] : [createRememberedTransport(addressFile)];
  return [createRegistryTransport(), createLanTransport({ discovery }), ...remembered];
}

/** Says that the networks are searched, if that takes a moment. */
async function tellingWhileLooking<T>({ connect, reach, onEvent }: ReceiveOptions, look: () => Promise<T>): Promise<T> {
  if (connect || reach.relayOnly || reach.discovery === 'off') return look();
  const timer = globalThis.setTimeout(() => onEvent({ type: 'looking' }), LOOKING_NOTICE_MS);
  return look().finally(() => clearTimeout(timer));
}

/** Looks again for a short while if nobody waits yet. */
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
