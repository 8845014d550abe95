// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import {
  assertInterface,
  createLanTransport,
  createRegistryTransport,
  type HostPort,
  type JoinedMailbox,
  joinAnywhere,
  parseRendezvous,
  type Transport,
} from '@keibidrop/discovery';
import { RateBudget } from '@keibidrop/native';
import { type Candidate, type ErrorCode, KeibiError, mailboxOf } from '@keibidrop/protocol';
import {
  CandidateExchange,
  type Meeting,
  meetAsGuest,
  openGrpcChannel,
  openSession,
  prepareHandshake,
  relayLaneTokens,
} from '@keibidrop/session';
import { type AddLane, ReceiveTransfer } from '@keibidrop/transfer';
import type { ReceiveOptions, ReceiveResult } from './api.ts';
import { dialSender, type ReachedSender } from './dial-sender.ts';
import { KeyRenewal } from './key-renewal.ts';
import { relayNotNamed } from './sender-reach.ts';
import { causeOf, lost } from './session-end.ts';
import { Throughput } from './throughput.ts';
import { TransferClock } from './transfer-clock.ts';

const MEETING_TIMEOUT_MS = 30_000;
/** A script, or two quick people, may start the receiver a moment before the sender. */
const SENDER_GRACE_MS = 1500;
const SENDER_RETRY_MS = 40;
/** A server is asked less often than this machine. */
const RENDEZVOUS_RETRY_MS = 500;
/** When a person wants to know what takes so long. */
const LOOKING_NOTICE_MS = 500;
const ABSENT: readonly ErrorCode[] = ['RENDEZVOUS_NOT_FOUND', 'RENDEZVOUS_UNREACHABLE', 'PEER_UNREACHABLE'];

/** What a measurement changes about receiving. */
export interface ReceiveHooks {
  /** Files that are only counted as they come and written nowhere. */
  discards?(path: string): boolean;
  /** The offer is accepted and nothing of a file is on its way yet; lanes will be dialled to this address. */
  beforeLanes?(address: HostPort): Promise<void>;
}

/**
 * Receives once what a code offers.
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
    return await transfer(reached, options, hooks);
  } finally {
    met?.wipe();
    // Not used if the handshake was never reached; wiping twice does no harm.
    void prepared.then(
      ({ wipe }) => wipe(),
      () => {},
    );
  }
}

/** Finds the sender's mailbox, proves the code, learns where to dial. */
async function meet(options: ReceiveOptions): Promise<{ meeting: Meeting; candidates: Candidate[] }> {
  const { code, connect, reach } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(MEETING_TIMEOUT_MS)]);
  const rendezvous = reach.rendezvous === undefined ? undefined : parseRendezvous(reach.rendezvous);
  if (reach.relayOnly && rendezvous === undefined) throw relayNotNamed();
  try {
    const mailbox = mailboxOf(code.nameplate);
    const find = { mailbox, connect, rendezvous, transports: searchedBy(reach), openChannel: openGrpcChannel, signal };
    const { pipe, place } = await tellingWhileLooking(options, () => joinPatiently(find));
    const meeting = await meetAsGuest(pipe, code, { signal });
    const exchange = new CandidateExchange(pipe, meeting, 'guest');
    const told = await exchange.receive({ signal });
    exchange.close();
    // Where its mailbox was is the surest way to the sender, and the only one if a person named it; a public rendezvous is no sender.
    const candidates = connect !== undefined ? [place] : place.transport === 'rendezvous' ? told : [place, ...told];
    return { meeting, candidates };
  } catch (reason) {
    options.signal.throwIfAborted();
    if (signal.aborted) throw new KeibiError('HANDSHAKE_TIMEOUT', undefined, { cause: reason });
    throw reason;
  }
}

/** Where a sender is looked for before the public rendezvous: nowhere if only a relay may lead to it. */
function searchedBy({ discovery, relayOnly }: ReceiveOptions['reach']): Transport[] {
  if (relayOnly) return [];
  return [createRegistryTransport(), ...(discovery === 'off' ? [] : [createLanTransport({ discovery })])];
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

async function transfer(reached: ReachedSender, options: ReceiveOptions, hooks: ReceiveHooks): Promise<ReceiveResult> {
  const { socket, keys, path } = reached;
  const clock = new TransferClock();
  const host = socket.remoteAddress ?? '';
  const port = socket.remotePort ?? 0;
  const laneKeys = { ...keys, laneSecret: keys.laneSecret.slice() };
  const relayTokens = path === 'relay' ? relayLaneTokens(keys.laneSecret) : undefined;
  const { confirm, resolveCollision } = options;
  const questions = {
    confirm: confirm && clock.stoppedWhile(confirm),
    resolveCollision: resolveCollision && clock.stoppedWhile(resolveCollision),
  };
  const asked = { ...options, ...questions, ...hooks };
  const incoming = new IncomingTransfer(asked, reached, async (addLane) => {
    await hooks.beforeLanes?.({ host, port });
    const tokens = await relayTokens;
    for (let lane = 0; lane < laneCount(options); lane++) {
      await addLane(host, port, lane, laneKeys, { relayToken: tokens?.[lane] });
    }
    laneKeys.laneSecret.fill(0);
  });
  const refuse = (call: { destroy(error: Error): void }) => void call.destroy(new KeibiError('SESSION_CLOSED'));
  const peerService = { transfer: incoming.transfer.transfer, digests: refuse };
  // An abort ends the transfer, which then says goodbye; it does not cut the session.
  const { signal: never } = new AbortController();
  const session = openSession(socket, keys, 'initiator', { peerService, signal: never });
  incoming.transfer.attach(session.client);
  keys.wipe();
  const end = (reason: unknown) => {
    if (incoming.end(reason)) void session.close(KeibiError.from(reason, 'CANCELLED'));
  };
  const onAbort = () => end(options.signal.reason);
  options.signal.addEventListener('abort', onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  lost(session).catch(end);
  incoming.renewal = new KeyRenewal(session, (number, secret) => incoming.transfer.fold(number, secret), end);
  try {
    const received = await incoming.transfer.done;
    const result = { ...received, peer: incoming.peer, seconds: clock.seconds };
    if (received.text !== undefined) options.onEvent({ type: 'text', text: received.text });
    const { files, bytes, skipped, resumedBytes, failed, seconds } = result;
    options.onEvent({ type: 'done', files, bytes, skipped, resumedBytes, seconds, failed: failed.length });
    await session.close();
    return result;
  } catch (symptom) {
    const reason = await causeOf(symptom, session);
    await session.close(KeibiError.from(reason, 'CANCELLED'));
    throw reason;
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    laneKeys.laneSecret.fill(0);
  }
}

/** The transfer's callbacks as events. */
class IncomingTransfer {
  readonly transfer: ReceiveTransfer;
  peer = '';
  renewal: KeyRenewal | undefined;
  readonly #ending = new AbortController();

  constructor(
    options: ReceiveOptions & ReceiveHooks,
    reached: ReachedSender,
    addLanes: (addLane: AddLane) => Promise<void>,
  ) {
    const { onEvent, confirm } = options;
    const { path, tried } = reached;
    const { suite } = reached.keys;
    const session = 1;
    const throughput = new Throughput();
    this.transfer = new ReceiveTransfer({
      out: options.out,
      toStdout: options.toStdout === true,
      collisions: options.collisions,
      verify: options.verify === true,
      durable: options.durable === true,
      verbose: options.verbose === true,
      label: options.label,
      budget: new RateBudget(options.limitBytesPerSecond ?? 0),
      signal: AbortSignal.any([options.signal, this.#ending.signal]),
      addLanes,
      onSender: (label) => {
        this.peer = label;
        onEvent({ type: 'connected', path, suite, peer: label, session, tried });
      },
      onOffer: ({ files, directories, symlinks, bytes }) =>
        onEvent({ type: 'offer', files, directories, symlinks, bytes }),
      confirm:
        confirm && ((totals, text) => confirm({ ...totals, peer: this.peer, path, suite, text: text !== undefined })),
      resolveCollision: options.resolveCollision,
      discards: options.discards,
      onProgress: ({ files, bytes }, totals, totalsFinal) => {
        this.renewal?.onBytes(bytes);
        const counts = { files, bytes, totalFiles: totals.files, totalBytes: totals.bytes, totalsFinal };
        onEvent({ type: 'progress', session, ...counts, bytesPerSecond: throughput.add(bytes) });
      },
      onFile: (file) => onEvent({ type: 'file', path: file, session }),
      onFailed: (failed) => onEvent({ type: 'failed', session, ...failed }),
      onWarning: (message, file) =>
        onEvent({ type: 'warning', message, ...(file === undefined ? {} : { path: file }) }),
    });
  }

  /** The session is gone: what the transfer still holds is put away. */
  end(reason: unknown): boolean {
    const ends = this.transfer.end(reason);
    if (ends) this.#ending.abort(reason);
    return ends;
  }
}

/** Bytes to standard output come in order on one lane. More lanes are for long links; KD_LANES asks for them in tests. */
function laneCount({ toStdout }: ReceiveOptions): number {
  const asked = Number(process.env.KD_LANES);
  return !toStdout && Number.isInteger(asked) && asked >= 1 && asked <= 16 ? asked : 1;
}
