// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '@keibidrop/discovery';
import type { LaneWay, RateBudget } from '@keibidrop/native';
import { type Candidate, KeibiError, MAX_LANES } from '@keibidrop/protocol';
import { openSession, refuseCall, relayLaneTokens } from '@keibidrop/session';
import { type LanePath, type LanePlan, ReceiveTransfer, type RunTally } from '@keibidrop/transfer';
import type { ReceiveOptions, ReceiveResult } from '../api.ts';
import type { ContactIntroduction } from '../contact-introduction.ts';
import type { PathName } from '../events.ts';
import { heartbeatTimes } from '../heartbeat-times.ts';
import { KeyRenewal } from '../key-renewal.ts';
import type { ReachedSender } from '../meeting/dial-sender.ts';
import { openHole } from '../meeting/punched-lanes.ts';
import { watchOwnEnd } from '../reconnect/address-watch.ts';
import { upgradePath } from '../reconnect/path-upgrade.ts';
import { causeOf, lost } from '../session-end.ts';
import { Throughput } from '../throughput.ts';
import type { TransferClock } from './transfer-clock.ts';

/** The hooks with which a measurement changes receiving. */
export interface ReceiveHooks {
  /** True for a file that is only counted as it arrives, and not written. */
  discards?(path: string): boolean;
  /** Called when the offer is accepted, before any file data; lanes will be dialled to this address. */
  beforeLanes?(address: HostPort): Promise<void>;
}

/** Shared by all sessions of one receive. */
export interface IncomingRun {
  options: ReceiveOptions & ReceiveHooks;
  tally: RunTally;
  clock: TransferClock;
  budget: RateBudget;
  saving: ContactIntroduction | undefined;
  /** The sender has spoken under the session's keys, so it knows them. */
  onProven(): void;
}

/** One session with a sender, from the handshake to its end. */
export class IncomingSession {
  readonly #run: IncomingRun;
  readonly #reached: ReachedSender;
  readonly #announced: readonly Candidate[];
  /** Aborted when the session is over. */
  readonly #over = new AbortController();
  #incoming: IncomingTransfer | undefined;

  /** The sender's addresses are tried again if only a relay led to it. */
  constructor(reached: ReachedSender, run: IncomingRun, announced: readonly Candidate[]) {
    this.#reached = reached;
    this.#run = run;
    this.#announced = announced;
  }

  /** Why another session could not continue this transfer: a sentence; else undefined. */
  get stuckBecause(): string | undefined {
    return this.#incoming?.transfer.stuckBecause;
  }

  /** Moves the lanes to a better path and reports it. @throws as LaneManager.moveTo(); SESSION_CLOSED without a transfer */
  async #moveLanes(to: LanePath, path: PathName): Promise<void> {
    const incoming = this.#incoming;
    if (incoming === undefined) throw new KeibiError('SESSION_CLOSED');
    await incoming.transfer.moveLanes(to, path);
    if (this.#over.signal.aborted) return;
    const { suite } = this.#reached.keys;
    this.#run.options.onEvent({ type: 'connected', path, suite, peer: incoming.peer, session: 1 });
  }

  /** Only while the relay carries the transfer, and only if other paths are allowed. */
  #upgradePath(punch: () => Promise<number>): void {
    if (this.#reached.path !== 'relay' || this.#run.options.reach.relayOnly) return;
    const move = (to: LanePath, path: PathName) => this.#moveLanes(to, path);
    void upgradePath({ announced: this.#announced, punch, move, signal: this.#over.signal });
  }

  /** Receives and says goodbye. Wipes the keys. @throws the reason of the session's end; `signal.reason` on abort */
  async run(): Promise<ReceiveResult> {
    const { options, clock, saving } = this.#run;
    const { socket, keys, path } = this.#reached;
    const host = socket.remoteAddress ?? '';
    const port = socket.remotePort ?? 0;
    const laneKeys = { ...keys, laneSecret: keys.laneSecret.slice() };
    const relayTokens = path === 'relay' ? relayLaneTokens(keys.laneSecret) : undefined;
    const lanes: LanePlan = {
      keys: laneKeys,
      count: laneCount(options),
      path: async () => {
        await options.beforeLanes?.({ host, port });
        this.#upgradePath(punch);
        return { host, port, way };
      },
    };
    const punch = () => openHole(session.client, options);
    const way = async (lane: number): Promise<LaneWay> => ({
      relayToken: (await relayTokens)?.[lane],
      fromPort: path === 'punched' ? await punch() : undefined,
    });
    const incoming = new IncomingTransfer(this.#run, this.#reached, lanes);
    this.#incoming = incoming;
    const peerService = {
      transfer: incoming.transfer.transfer,
      digests: refuseCall,
      ...saving?.awaitedIn(keys.sessionId),
    };
    // An abort ends the transfer, which then says goodbye. It does not cut the session; a lost network does.
    const cut = new AbortController();
    const session = openSession(socket, keys, 'initiator', {
      peerService,
      heartbeat: heartbeatTimes(),
      signal: cut.signal,
    });
    clock.begin();
    incoming.transfer.attach(session.client);
    keys.wipe();
    const end = (reason: unknown) => {
      if (incoming.end(reason)) void session.close(KeibiError.from(reason, 'CANCELLED'));
    };
    const onAbort = () => end(options.signal.reason);
    options.signal.addEventListener('abort', onAbort, { once: true });
    if (options.signal.aborted) onAbort();
    lost(session).catch(end);
    const unwatch = watchOwnEnd(socket, () => cut.abort(networkGone()));
    const unlisten = options.pausing?.onChange((paused) => incoming.transfer.notifyPaused(paused));
    incoming.renewal = new KeyRenewal(session, (number, secret) => incoming.transfer.rekey(number, secret), end);
    try {
      const received = await incoming.transfer.done;
      this.#over.abort();
      const result = { ...received, peer: incoming.peer, seconds: clock.seconds };
      await saving?.settle({ transferDone: true });
      if (received.text !== undefined) options.onEvent({ type: 'text', text: received.text });
      const { files, bytes, skipped, resumedBytes, failed, seconds } = result;
      options.onEvent({ type: 'done', files, bytes, skipped, resumedBytes, seconds, failed: failed.length });
      await session.close();
      return result;
    } catch (symptom) {
      const reason = await causeOf(symptom, session);
      await session.close(KeibiError.from(reason, 'CANCELLED'));
      await saving?.settle({ transferDone: false });
      throw reason;
    } finally {
      this.#over.abort();
      unwatch();
      unlisten?.();
      options.signal.removeEventListener('abort', onAbort);
      laneKeys.laneSecret.fill(0);
    }
  }
}

/** Converts the transfer's callbacks to events. */
class IncomingTransfer {
  readonly transfer: ReceiveTransfer;
  peer = '';
  renewal: KeyRenewal | undefined;
  readonly #ending = new AbortController();

  constructor(run: IncomingRun, reached: ReachedSender, lanes: LanePlan) {
    const { options, tally } = run;
    const { onEvent, confirm } = options;
    const { path, tried } = reached;
    const { suite } = reached.keys;
    const session = 1;
    const throughput = new Throughput();
    this.transfer = new ReceiveTransfer({
      out: options.out,
      beneath: options.beneath,
      toStdout: options.toStdout === true,
      collisions: options.collisions,
      verify: options.verify === true,
      durable: options.durable === true,
      verbose: options.verbose === true,
      label: options.label,
      budget: run.budget,
      tally,
      entries: options.entriesOf?.(session),
      signal: AbortSignal.any([options.signal, this.#ending.signal]),
      lanes,
      onSender: (label) => {
        this.peer = label;
        run.onProven();
        onEvent({ type: 'connected', path, suite, peer: label, session, tried });
        run.saving?.connected();
        if (options.pausing?.paused) this.transfer.notifyPaused(true);
      },
      onOffer: ({ files, directories, symlinks, bytes, names, nameCount }) =>
        onEvent({ type: 'offer', files, directories, symlinks, bytes, names, nameCount }),
      confirm:
        confirm && ((totals, text) => confirm({ ...totals, peer: this.peer, path, suite, text: text !== undefined })),
      keepText: options.keepText,
      resolveCollision: options.resolveCollision,
      discards: options.discards,
      onProgress: ({ bytes, ...progress }, totals, walked) => {
        this.renewal?.onBytes(bytes);
        const totalsFinal = walked && !totals.stream;
        const counts = { bytes, totalFiles: totals.files, totalBytes: totals.bytes, totalsFinal };
        onEvent({ type: 'progress', session, ...progress, ...counts, bytesPerSecond: throughput.add(bytes) });
      },
      onPause: (paused) => onEvent({ type: 'paused', paused, by: 'peer', session }),
      onFile: (file) => onEvent({ type: 'file', path: file, session }),
      onFailed: (failed) => onEvent({ type: 'failed', session, ...failed }),
      onWarning: (message, file) =>
        onEvent({ type: 'warning', message, ...(file === undefined ? {} : { path: file }) }),
    });
  }

  /** The session is over: releases all that the transfer still holds. */
  end(reason: unknown): boolean {
    const ends = this.transfer.end(reason);
    if (ends) this.#ending.abort(reason);
    return ends;
  }
}

function networkGone(): KeibiError {
  return new KeibiError('SESSION_LOST', 'This computer has left the network.', { detail: { silent: true } });
}

/** Standard output needs one lane to keep the bytes in order. KD_LANES sets the number in tests; otherwise the path decides. */
function laneCount({ toStdout }: ReceiveOptions): number | undefined {
  if (toStdout) return 1;
  const asked = Number(process.env.KD_LANES);
  return Number.isInteger(asked) && asked >= 1 && asked <= MAX_LANES ? asked : undefined;
}
