// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import type { ClientDuplexStream, handleServerStreamingCall } from '@grpc/grpc-js';
import {
  type LaneKeys,
  type Listener,
  NO_ENTRY,
  type Problem,
  type RateBudget,
  type Root,
  type Selection,
  SendJob,
} from '@keibidrop/native';
import type {
  ChunkDigests,
  DigestsRequest,
  EntryFailed,
  PeerClient,
  ReceiverMessage,
  SenderMessage,
} from '@keibidrop/proto';
import { KeibiError, peerCodeOf, peerError, peerMessageFor } from '@keibidrop/protocol';
import { serveDigests } from './digests.ts';
import type { EntryLog } from './entry-log.ts';
import {
  checkedLabel,
  type FailedEntry,
  FailureBudget,
  failedEntry,
  fileOf,
  laneError,
  outOfTurn,
  type TransferOutcome,
  type TransferProgress,
} from './outcome.ts';
import { remoteError } from './remote-error.ts';

export interface SendTransferOptions {
  /** The offer: roots, or a text instead. */
  roots: Root[];
  text?: string | undefined;
  /** Names below the roots that are left out. */
  selection?: Selection | undefined;
  /** The name this peer gives itself. */
  label: string;
  /** The rate limit, shared with other transfers. */
  budget?: RateBudget | undefined;
  /** Records every entry. */
  entries?: EntryLog | undefined;
  /** Aborts the transfer. */
  signal: AbortSignal;
  /** The receiver's name: once, before anything else. */
  onReceiver(label: string): void;
  /** The receiver accepts: once. No file data leaves before. */
  onAccepted(): void;
  /** The walk has ended: once. */
  onOffer(totals: { files: number; bytes: number; leftOut: number }): void;
  onProgress(progress: TransferProgress): void;
  /** The receiver has paused or continued the transfer. */
  onPause(paused: boolean): void;
  /** The receiver reports that the lanes have moved to a path of this name. The name is untrusted text. */
  onPath(path: string): void;
  onFailed(failed: FailedEntry): void;
  /** Something that is not a file was left out: a socket, a device. */
  onWarning(path: string): void;
}

/** Type of a Peer.Digests handler. */
export type DigestsHandler = handleServerStreamingCall<DigestsRequest, ChunkDigests>;

/**
 * One transfer on the sending peer: offers the entries that native walks, passes the receiver's answers to native, collects failures.
 *
 *   new -> expectLanes -> run -> close
 */
export class SendTransfer {
  readonly #options: SendTransferOptions;
  readonly #job: SendJob;
  readonly #failed: FailedEntry[] = [];
  #call: ClientDuplexStream<SenderMessage, ReceiverMessage> | undefined;
  #settle: { resolve(outcome: TransferOutcome): void; reject(reason: unknown): void } | undefined;
  readonly #failures = new FailureBudget();
  /** Messages that are allowed once and have been received. */
  readonly #heard = new Set<'hello' | 'accept'>();
  readonly #dropped = new Set<number>();
  /** Entries offered so far. */
  #paged = 0;
  /** Problems not yet reported to the receiver. */
  #problems: Problem[] = [];
  #pumping = false;
  #finished = false;

  constructor(options: SendTransferOptions) {
    this.#options = options;
    const { roots, selection, budget } = options;
    this.#job = new SendJob({ roots, selection, budget, onWake: () => void this.#pump() });
  }

  /** Handler of Peer.Digests, for the session of this transfer. */
  readonly digests: DigestsHandler = (call) => void serveDigests(call, (entry) => this.#job.digest(entry));

  /** Accepts the session's lanes from now on. */
  expectLanes(listener: Listener, keys: LaneKeys): void {
    this.#job.expectLanes(listener, keys);
  }

  /**
   * Makes the offer, sends, and resolves when the receiver has everything it wants and can get.
   *
   * @throws OFFER_DECLINED, SESSION_LOST, SESSION_CLOSED, HANDSHAKE_MALFORMED; `signal.reason` on abort
   */
  async run(client: PeerClient): Promise<TransferOutcome> {
    const { signal, label, text } = this.#options;
    signal.throwIfAborted();
    const call = client.transfer();
    this.#call = call;
    const onAbort = () => this.#settle?.reject(signal.reason);
    try {
      return await new Promise<TransferOutcome>((resolve, reject) => {
        this.#settle = { resolve, reject };
        signal.addEventListener('abort', onAbort, { once: true });
        call.on('data', (message: ReceiverMessage) => this.#take(message));
        call.on('error', (error) => reject(remoteError(error)));
        call.on('end', () => reject(new KeibiError('SESSION_LOST')));
        call.write({ body: { $case: 'offerStart', value: { label, text } } });
        if (text === undefined) this.#job.start();
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#settle = undefined;
      // A failed call stays open until close(): the session's goodbye, which gives the reason, must arrive before the cancellation.
      if (this.#finished) call.end();
    }
  }

  /** Moves every lane's writer to this rekey, a rekey (PROTOCOL 4.3). Wipes the secret. */
  rekey(number: number, secret: Uint8Array): void {
    this.#job.rekey(number, secret);
    secret.fill(0);
  }

  /** Notifies the receiver that this side has paused or continued the transfer. */
  notifyPaused(paused: boolean): void {
    if (this.#call !== undefined && !this.#finished) this.#write({ $case: 'pause', value: { paused } });
  }

  /** Ends the call and native's threads. Idempotent. */
  close(): Promise<void> {
    this.#options.entries?.end();
    if (!this.#finished) this.#call?.cancel();
    return this.#job.close();
  }

  #take({ body }: ReceiverMessage): void {
    try {
      this.#dispatch(body);
    } catch (reason) {
      this.#settle?.reject(KeibiError.from(reason, 'HANDSHAKE_MALFORMED'));
    }
  }

  #dispatch(body: ReceiverMessage['body']): void {
    switch (body?.$case) {
      case 'hello':
      case 'accept':
        this.#takeOnce(body);
        break;
      case 'decline':
        this.#settle?.reject(declined(body.value.reason));
        break;
      case 'answer': {
        const { firstEntry, count, wanted, partials } = body.value;
        this.#job.answer(firstEntry, count, wanted, partials);
        this.#options.entries?.answer(firstEntry, wanted);
        break;
      }
      case 'progress':
        this.#job.acknowledge(body.value.lanes);
        this.#options.entries?.progress(body.value);
        this.#options.onProgress({ ...body.value, ...fileOf(this.#job) });
        break;
      case 'laneClosed': {
        const { lane = 0, frames = 0 } = body.value.taken ?? {};
        this.#job.closeLane(lane, frames);
        break;
      }
      case 'laneRetired':
        this.#job.retireLane(body.value.lane);
        break;
      case 'failed':
        this.#receiverFailed(body.value);
        break;
      case 'pause':
        this.#options.onPause(body.value.paused);
        break;
      case 'path':
        this.#options.onPath(body.value.path);
        break;
      case 'finished':
        this.#finish(body.value);
    }
  }

  #takeOnce(body: Extract<ReceiverMessage['body'], { $case: 'hello' | 'accept' }>): void {
    if (this.#heard.has(body.$case)) throw outOfTurn(body.$case);
    this.#heard.add(body.$case);
    if (body.$case === 'hello') this.#options.onReceiver(checkedLabel(body.value.label));
    else this.#options.onAccepted();
  }

  /** The receiver cannot keep an entry. It may report a directory twice, at its beginning and at its end. */
  #receiverFailed({ entry, code, path }: EntryFailed): void {
    if (entry >= this.#paged) throw outOfTurn('failed');
    if (this.#dropped.has(entry)) return;
    this.#dropped.add(entry);
    this.#job.drop(entry);
    this.#options.entries?.fail(entry, peerCodeOf(code));
    this.#fail({ path, code: peerCodeOf(code), message: peerMessageFor(code) });
  }

  #finish({ files, bytes, skipped, resumedBytes }: TransferOutcome | Omit<TransferOutcome, 'failed'>): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#job.finish();
    this.#options.entries?.finish();
    this.#write({ $case: 'finished', value: {} });
    this.#settle?.resolve({ files, bytes, skipped, resumedBytes, failed: this.#failed });
  }

  /** Passes on native's output, no faster than the connection takes it. */
  async #pump(): Promise<void> {
    if (this.#pumping || this.#settle === undefined) return;
    this.#pumping = true;
    try {
      for (let more = true; more; ) more = await this.#passOn();
    } catch (reason) {
      this.#settle?.reject(KeibiError.from(reason, 'SESSION_LOST'));
    } finally {
      this.#pumping = false;
    }
  }

  async #passOn(): Promise<boolean> {
    const { pages, problems, walked, lanesEnded, lanesMoved } = this.#job.takeNews();
    for (const { first, count, bytes } of pages) {
      this.#paged = first + count;
      this.#options.entries?.add({ first, count, bytes });
      if (!this.#write({ $case: 'page', value: { firstEntry: first, count, entries: bytes } })) await this.#drained();
    }
    this.#problems = this.#problems.concat(problems).filter((problem) => !this.#tryReport(problem));
    if (walked) {
      this.#write({ $case: 'offerEnd', value: walked });
      this.#options.entries?.walked();
      this.#options.onOffer(walked);
    }
    for (const { lane, code } of lanesEnded) {
      if (this.#finished || code === '') continue;
      if (code !== 'SESSION_LOST') throw laneError(code);
      this.#write({ $case: 'laneBroken', value: { lane } });
    }
    for (const lane of lanesMoved) this.#write({ $case: 'laneMoved', value: { lane } });
    return pages.length > 0;
  }

  async #drained(): Promise<void> {
    if (this.#call) await once(this.#call, 'drain', { signal: this.#options.signal });
  }

  /** False if the entry is not yet offered: a folder can prove unreadable before its page is full. */
  #tryReport(problem: Problem): boolean {
    const heardOf = problem.entry === NO_ENTRY || problem.entry < this.#paged;
    if (heardOf) this.#report(problem);
    return heardOf;
  }

  #report(problem: Problem): void {
    if (problem.code === 'TRANSFER_SOURCE_UNSUPPORTED') {
      this.#options.onWarning(problem.path);
      return;
    }
    const failed = failedEntry(problem);
    if (problem.entry !== NO_ENTRY) this.#options.entries?.fail(problem.entry, failed.code);
    this.#fail(failed);
    this.#write({ $case: 'failed', value: { entry: problem.entry, code: failed.code, path: failed.path } });
  }

  #fail(failed: FailedEntry): void {
    this.#failures.spend(failed);
    this.#failed.push(failed);
    this.#options.onFailed(failed);
  }

  /** False when the connection's buffer is full. */
  #write(body: SenderMessage['body']): boolean {
    return this.#call?.write({ body }) ?? true;
  }
}

function declined(reason: string): KeibiError {
  if (reason !== 'OFFER_DECLINED') return peerError(reason);
  return new KeibiError(reason, 'The receiver declined. Ask why, then send again.', { detail: { remote: true } });
}
