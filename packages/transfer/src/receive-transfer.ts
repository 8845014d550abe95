// SPDX-License-Identifier: MPL-2.0
import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import { type Collision, NO_ENTRY, type Page, type RateBudget } from '@keibidrop/native';
import type { EntryFailed, PeerClient, ReceiverMessage, SenderMessage } from '@keibidrop/proto';
import { KeibiError, MAX_TEXT_BYTES, peerCodeOf, peerMessageFor } from '@keibidrop/protocol';
import type { EntryLog } from './entry-log.ts';
import type { LanePath, LanePlan } from './lane-manager.ts';
import { Offer, type OfferTotals } from './offer.ts';
import {
  checkedLabel,
  type FailedEntry,
  FailureBudget,
  outOfTurn,
  type TransferOutcome,
  type TransferProgress,
} from './outcome.ts';
import { Reception } from './reception.ts';
import { failCall, remoteError } from './remote-error.ts';
import type { RunTally } from './run-tally.ts';

const DECLINED = 'You declined the offer; nothing was written. If you want it after all, ask the sender to send again.';

export interface ReceiveTransferOptions {
  /** Absolute. */
  out: string;
  /** A folder that `out` must stay inside; absent: no such limit. */
  beneath?: string | undefined;
  toStdout: boolean;
  collisions: Collision;
  verify: boolean;
  /** A file gets its name, and `done` resolves, only after the data would survive a power cut. */
  durable: boolean;
  verbose: boolean;
  label: string;
  /** The rate limit, shared with other transfers. */
  budget?: RateBudget | undefined;
  /** Counts the sessions of one run together. */
  tally: RunTally;
  /** Records every entry. */
  entries?: EntryLog | undefined;
  signal: AbortSignal;
  /** The lanes for the transfer, used once the offer is accepted. */
  lanes: LanePlan;
  /** The sender's name: once, before anything else. */
  onSender(label: string): void;
  /** The totals of the whole offer, before `confirm`. */
  onOffer(totals: OfferTotals): void;
  /** False declines; `out` accepts into another absolute destination. Absent: accepts at once, even while the sender is still walking. */
  confirm?: ((totals: OfferTotals, text: string | undefined) => Promise<boolean | { out: string }>) | undefined;
  /** Stores a text before it is acknowledged to the sender. */
  keepText?: ((text: string) => Promise<void>) | undefined;
  resolveCollision?: ((path: string) => Promise<Exclude<Collision, 'ask'>>) | undefined;
  /** Selects files that are only counted and not written, for measurements. */
  discards?: ((path: string) => boolean) | undefined;
  onProgress(progress: TransferProgress, totals: OfferTotals, final: boolean): void;
  /** The sender has paused or continued the transfer. */
  onPause(paused: boolean): void;
  onFile(path: string): void;
  onFailed(failed: FailedEntry): void;
  onWarning(message: string, path?: string): void;
}

const ACKNOWLEDGE_TIMEOUT_MS = 2000;

/** The received result: files in place, or a text. */
export interface ReceivedTransfer extends TransferOutcome {
  text?: string;
}

/** Type of a Peer.Transfer handler. */
export type TransferHandler = handleBidiStreamingCall<SenderMessage, ReceiverMessage>;

type Call = ServerDuplexStream<SenderMessage, ReceiverMessage>;

/**
 * One transfer on the receiving peer: serves Peer.Transfer once, asks the user, answers the manifest page by page, and lets native write files.
 *
 *   waiting for the call -> offered -> (declined | receiving -> finished)
 */
export class ReceiveTransfer {
  readonly #options: ReceiveTransferOptions;
  /** Settles with the transfer, or after end(). */
  readonly done: Promise<ReceivedTransfer>;
  #resolve: (received: ReceivedTransfer) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #client: PeerClient | undefined;
  #served: ServedTransfer | undefined;

  constructor(options: ReceiveTransferOptions) {
    this.#options = options;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.done.catch(() => {});
  }

  /** Call it once the session is up; the client is needed for --verify. */
  attach(client: PeerClient): void {
    this.#client = client;
  }

  /** Lets every lane's reader follow to this rekey, a rekey (PROTOCOL 4.3). Wipes the secret. */
  rekey(number: number, secret: Uint8Array): void {
    this.#served?.rekey(number, secret);
    secret.fill(0);
  }

  /**
   * Moves the lanes of a running transfer to another address and sends the path's name to the sender; see LaneManager.moveTo().
   *
   * @throws SESSION_CLOSED if no transfer is running, or it could not be repeated after a loss
   */
  async moveLanes(to: LanePath, path: string): Promise<void> {
    if (this.#served === undefined) throw new KeibiError('SESSION_CLOSED');
    await this.#served.moveLanes(to, path);
  }

  /** Notifies the sender that this side has paused or continued the transfer. */
  notifyPaused(paused: boolean): void {
    this.#served?.notifyPaused(paused);
  }

  /** Handler of Peer.Transfer, for the session of this transfer. */
  readonly transfer: TransferHandler = (call) => {
    if (this.#served) {
      failCall(call, 'SESSION_CLOSED');
      return;
    }
    void this.#serve(call);
  };

  /**
   * Ends with the session: stores the data received so far, then `done` rejects with `reason`.
   *
   * @returns  false if everything is already in place; the loss of the session does not matter then, and `done` resolves
   */
  end(reason: unknown): boolean {
    if (this.#served) return this.#served.end(reason);
    this.#reject(reason);
    return true;
  }

  /** Why another session cannot resume this transfer, as a sentence; undefined if it can. */
  get stuckBecause(): string | undefined {
    return this.#served?.stuckBecause;
  }

  async #serve(call: Call): Promise<void> {
    this.#served = new ServedTransfer(call, this.#options, this.#client);
    try {
      this.#resolve(await this.#served.run());
    } catch (reason) {
      const error = this.#options.signal.aborted ? this.#options.signal.reason : remoteError(reason);
      // Before an accept, a decline carries the reason to the sender; after it, the goodbye of the session does.
      if (error instanceof KeibiError) call.write({ body: { $case: 'decline', value: { reason: error.code } } });
      this.#reject(error);
    }
  }
}

/** Standard output keeps neither names nor borders of files, so only files fit. @throws OFFER_DECLINED for a folder */
function assertFilesOnly({ directories, symlinks }: OfferTotals): void {
  if (directories + symlinks === 0) return;
  throw new KeibiError(
    'OFFER_DECLINED',
    'A folder is offered, and --stdout takes only files. Ask for the offer again and receive it with --out DIR.',
  );
}

/** The transfer once its call has arrived. */
class ServedTransfer {
  readonly #call: Call;
  readonly #options: ReceiveTransferOptions;
  readonly #client: PeerClient | undefined;
  #offer = new Offer({ foldNames: false });
  #reception: Reception | undefined;
  readonly #waiting: Page[] = [];
  readonly #failed: FailedEntry[] = [];
  readonly #result: Promise<ReceivedTransfer>;
  #resolve: (received: ReceivedTransfer) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  readonly #acknowledged: Promise<void>;
  #acknowledge: () => void = () => {};
  readonly #failures = new FailureBudget();
  #text: string | undefined;
  #stage: 'waiting' | 'offering' | 'offered' = 'waiting';
  /** Everything is in place; only the sender's acknowledgement is missing. */
  #standing = false;

  constructor(call: Call, options: ReceiveTransferOptions, client: PeerClient | undefined) {
    this.#call = call;
    this.#options = options;
    this.#client = client;
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#result.catch(() => {});
    this.#acknowledged = new Promise((resolve) => {
      this.#acknowledge = resolve;
    });
    // An aborted call ends the iteration below; without a listener its error would become an uncaught exception.
    call.on('error', () => {});
    call.on('cancelled', () => this.#acknowledge());
  }

  async run(): Promise<ReceivedTransfer> {
    this.#write({ $case: 'hello', value: { label: this.#options.label } });
    try {
      this.#consume().catch((reason) => this.end(reason));
      return await this.#result;
    } finally {
      this.#options.entries?.end();
      await this.#reception?.close();
    }
  }

  end(reason: unknown): boolean {
    if (this.#standing) this.#acknowledge();
    else this.#reject(reason);
    return !this.#standing;
  }

  rekey(number: number, secret: Uint8Array): void {
    this.#reception?.rekey(number, secret);
  }

  notifyPaused(paused: boolean): void {
    if (!this.#standing) this.#write({ $case: 'pause', value: { paused } });
  }

  get stuckBecause(): string | undefined {
    if (this.#offer.totals.stream) return 'Standard input cannot be sent a second time.';
    if (this.#options.toStdout && this.#reception) return 'What was written to standard output cannot be taken back.';
    return undefined;
  }

  async moveLanes(to: LanePath, path: string): Promise<void> {
    if (this.#reception === undefined || this.stuckBecause !== undefined) throw new KeibiError('SESSION_CLOSED');
    await this.#reception.lanes.moveTo(to);
    if (!this.#standing) this.#write({ $case: 'path', value: { path } });
  }

  /** Takes messages one at a time; flow control of gRPC and TCP slows the sender's walk meanwhile. */
  async #consume(): Promise<never> {
    // Not `for await`: leaving that loop would end the call.
    const messages = this.#call[Symbol.asyncIterator]() as AsyncIterator<SenderMessage>;
    for (let next = await messages.next(); !next.done; next = await messages.next()) {
      this.#options.signal.throwIfAborted();
      await this.#take(next.value.body);
    }
    throw new KeibiError('SESSION_LOST', undefined, { detail: { resumable: true } });
  }

  /** @throws HANDSHAKE_MALFORMED for a message out of the order of PROTOCOL 8, and any error of the offer */
  async #take(body: SenderMessage['body']): Promise<void> {
    if (body?.$case === 'finished' && this.#standing) {
      this.#acknowledge();
      return;
    }
    if (body !== undefined && !this.#mayFollow(body.$case)) throw outOfTurn(body.$case);
    switch (body?.$case) {
      case 'offerStart':
        this.#stage = 'offering';
        return this.#start(body.value.label, body.value.text);
      case 'page': {
        const { firstEntry: first, count, entries: bytes } = body.value;
        const page = { first, count, bytes };
        this.#offer.add(page);
        if (this.#options.toStdout) assertFilesOnly(this.#offer.totals);
        this.#options.entries?.add(page);
        if (this.#reception) await this.#reception.answer(page);
        else this.#waiting.push(page);
        return;
      }
      case 'laneBroken':
        this.#reception?.lanes.broken(body.value.lane);
        return;
      case 'laneMoved':
        this.#reception?.lanes.moved(body.value.lane);
        return;
      case 'failed':
        return this.#senderFailed(body.value);
      case 'pause':
        return this.#options.onPause(body.value.paused);
      case 'offerEnd':
        this.#offer.assertComplete(body.value);
        this.#options.entries?.walked();
        this.#stage = 'offered';
        // The sender may still report failures while the bytes arrive.
        this.#offerEnd().then(this.#resolve, this.#reject);
    }
  }

  /** The allowed order: the offer, its pages and its end, with failures in between and after. A text has no other messages. */
  #mayFollow(kind: NonNullable<SenderMessage['body']>['$case']): boolean {
    if (this.#stage === 'waiting') return kind === 'offerStart';
    if (kind === 'pause') return true;
    if (this.#text !== undefined) return false;
    if (kind === 'laneBroken' || kind === 'laneMoved') return this.#reception !== undefined;
    return kind === 'failed' || (this.#stage === 'offering' && (kind === 'page' || kind === 'offerEnd'));
  }

  #senderFailed({ entry, code, path }: EntryFailed): void {
    if (entry !== NO_ENTRY && entry >= this.#offer.entries) throw outOfTurn('failed');
    this.#fail({ path, code: peerCodeOf(code), message: peerMessageFor(code) });
    if (entry !== NO_ENTRY) this.#options.entries?.fail(entry, peerCodeOf(code));
    if (entry !== NO_ENTRY) this.#reception?.failEntry(entry, peerCodeOf(code));
  }

  async #start(label: string, text: string | undefined): Promise<void> {
    this.#options.onSender(checkedLabel(label));
    this.#text = text;
    if (text !== undefined) {
      if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED');
      this.#takeText(text).then(this.#resolve, this.#reject);
    } else if (!this.#options.confirm && !this.#options.toStdout) {
      await this.#accept(this.#options.out);
    }
  }

  async #takeText(text: string): Promise<ReceivedTransfer> {
    this.#offer.totals.bytes = Buffer.byteLength(text);
    this.#options.onOffer(this.#offer.totals);
    await this.#ask();
    await this.#options.keepText?.(text);
    this.#write({ $case: 'accept', value: {} });
    return this.#finish({ files: 0, bytes: this.#offer.totals.bytes, skipped: 0, resumedBytes: 0, failed: [], text });
  }

  /** @returns  the destination */
  async #ask(): Promise<string> {
    const { confirm, signal, out } = this.#options;
    if (!confirm) return out;
    const agreed = await confirm(this.#offer.totals, this.#text);
    signal.throwIfAborted();
    if (!agreed) throw new KeibiError('OFFER_DECLINED', DECLINED);
    return agreed === true ? out : agreed.out;
  }

  /** Accepts the offer; from here on files are written. */
  async #accept(out: string): Promise<void> {
    const reception = new Reception(
      { ...this.#options, out, verifyWith: this.#options.verify ? this.#client : undefined },
      {
        write: (body) => this.#write(body),
        onFailed: (failed) => this.#fail(failed),
        progress: (progress) => this.#options.onProgress(progress, this.#offer.totals, this.#stage === 'offered'),
      },
    );
    this.#reception = reception;
    const foldNames = await reception.open();
    const pages = this.#waiting.splice(0);
    if (foldNames) {
      this.#offer = new Offer({ foldNames });
      for (const page of pages) this.#offer.add(page);
    }
    this.#write({ $case: 'accept', value: {} });
    // Page answers go out while the lanes are dialled; on a long path each takes a round trip.
    reception.openLanes().catch((reason) => this.#reject(reason));
    for (const page of pages) await reception.answer(page);
  }

  /** The manifest is complete: asks the user if that is still due, then waits for the bytes. */
  async #offerEnd(): Promise<ReceivedTransfer> {
    this.#options.onOffer(this.#offer.totals);
    if (!this.#reception) {
      await this.#accept(await this.#ask());
    }
    const reception = this.#reception as Reception;
    const outcome = await reception.complete();
    if (this.#options.verify && this.#client) await reception.verify(this.#client, this.#offer);
    await reception.finish();
    return this.#finish({ ...outcome, failed: this.#failed });
  }

  async #finish(received: ReceivedTransfer): Promise<ReceivedTransfer> {
    const { files, bytes, skipped, resumedBytes, failed } = received;
    this.#standing = true;
    this.#write({ $case: 'finished', value: { files, bytes, skipped, resumedBytes, failed: failed.length } });
    // Closing the session before the sender's acknowledgement would look like a loss to it. Without one, the files are complete anyway.
    const timer = setTimeout(() => this.#acknowledge(), ACKNOWLEDGE_TIMEOUT_MS);
    await this.#acknowledged;
    clearTimeout(timer);
    this.#call.end();
    return received;
  }

  #fail(failed: FailedEntry): void {
    this.#failures.spend(failed);
    this.#failed.push(failed);
    this.#options.onFailed(failed);
  }

  #write(body: ReceiverMessage['body']): void {
    this.#call.write({ body });
  }
}
