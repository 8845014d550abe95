// SPDX-License-Identifier: MPL-2.0
import {
  type CodeEvent,
  type CollisionAnswer,
  type ConnectedEvent,
  type OfferAnswer,
  type OfferSummary,
  PauseSwitch,
  type PeerEvent,
  receive,
  send,
  type TransferSummary,
} from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import { KeibiError, MAX_WRONG_GUESSES } from '@keibidrop/protocol';
import type { ContactService } from '../contact-service.ts';
import type { Emitted } from '../event-stream.ts';
import { freeBytes } from '../free-space.ts';
import type { HistoryEntry } from '../history/history.ts';
import { historyEntryOf, placeOf } from '../history/history-entry.ts';
import type { Asked, Prompts } from '../prompts.ts';
import type { FileLists } from './file-lists.ts';
import { PeerStats } from './peer-stats.ts';
import { endOf, failureOf, type TransferEnd } from './transfer-end.ts';
import type { TransferEntry, TransferState } from './transfer-entry.ts';
import { transferEvent } from './transfer-event.ts';
import { type ReadSettings, receiveOptionsOf, sendOptionsOf } from './transfer-options.ts';
import { offeredBy, TransferStats } from './transfer-stats.ts';

type ReceiveEntry = Extract<TransferEntry, { kind: 'receive' }>;

/** The services of the daemon that a transfer uses. */
export interface TransferContext {
  read: ReadSettings;
  questions: Prompts;
  sendTo: ContactService['sendTo'];
  introducing: ContactService['introducing'];
  /** The file lists of all transfers. */
  lists: FileLists;
  /** Called in order. */
  onEvent(transfer: Transfer, event: Emitted): void;
  /** False if the drop that it sends is known to be gone. */
  hasSource(transfer: Transfer): boolean;
  /** A text has arrived. Resolves once it survives this daemon. @throws DISK_FULL, TRANSFER_LIMIT_EXCEEDED */
  keepText(transfer: Transfer, text: string, from: ConnectedEvent | undefined): Promise<void>;
  /** Called when anything but the counters changed. */
  onChange(transfer: Transfer): void;
  /** The stored part has changed. Resolves once it is on the disk, or cannot be stored. */
  onEntry(transfer: Transfer): Promise<void>;
}

/** One send or receive, from the request to its end, including retries. */
export class Transfer {
  readonly entry: TransferEntry;
  readonly #context: TransferContext;
  #figures: TransferStats;
  #peers: PeerStats;
  #run: { ending: AbortController; pausing: PauseSwitch; over: Promise<void> } | undefined;
  #end: TransferEnd | undefined;
  /** True while the queue holds it. */
  #held = false;
  #asking = 0;
  /** Events held back until the disk has the code. */
  #unreported: PeerEvent[] | undefined;
  /** The user's answer to all further collisions. */
  #always: CollisionAnswer | undefined;

  /** @param text  the unread text of an earlier daemon */
  constructor(entry: TransferEntry, context: TransferContext, text?: string) {
    this.entry = entry;
    this.#context = context;
    this.#figures = this.#fresh();
    this.#peers = this.#freshPeers();
    if (entry.unread === undefined || text === undefined) return;
    this.#figures.take({ type: 'text', text });
    this.#figures.last = entry.unread.from;
    this.#end = { at: entry.unread.at, state: 'done' };
  }

  get id(): number {
    return this.entry.id;
  }

  /** How it ended; undefined until then. */
  get end(): TransferEnd | undefined {
    return this.#end;
  }

  get begun(): boolean {
    return this.#run !== undefined;
  }

  /** False once the sender has refused the code of a receive: each attempt uses up one of the sender's three guesses. */
  get codeIsGood(): boolean {
    const { kind, pull } = this.entry;
    const code = this.#end?.error?.code;
    return kind === 'send' || pull !== undefined || (code !== 'CODE_WRONG' && code !== 'CODE_EXHAUSTED');
  }

  get connected(): boolean {
    return this.#figures.sessions.size > 0;
  }

  /** True if only the queue may stop its bytes: no user has paused it, here or at every peer. */
  get mayMove(): boolean {
    return !this.entry.paused && this.#figures.wanted;
  }

  get state(): TransferState {
    const { sessions, holding } = this.#figures;
    if (this.#end !== undefined) return this.#end.state;
    if (this.entry.paused) return 'paused';
    if (this.#run === undefined || this.#held) return 'queued';
    if (this.#asking > 0) return 'asking';
    if (sessions.size === 0) return 'waiting';
    return holding.size === sessions.size ? 'paused' : 'running';
  }

  view(): local.Transfer {
    const { kind, id, added, place } = this.entry;
    const { what, code, text, last } = this.#figures;
    const { error, at, summary } = this.#end ?? {};
    const { resumedBytes, ...peers } = this.#peers.fields();
    return {
      id,
      kind,
      state: this.state,
      what,
      peer: last?.peer,
      contact: this.#contact,
      code: kind === 'send' && this.#end === undefined ? code : undefined,
      place: kind === 'receive' ? place : undefined,
      path: last?.path,
      suite: last?.suite,
      ...this.#figures.sums(),
      error: error && { code: error.code, message: error.message },
      added,
      ended: at,
      incognito: this.entry.request.incognito,
      text,
      unread: this.entry.unread === undefined ? undefined : true,
      owner: this.entry.request.owner,
      isText: text !== undefined || (this.entry.kind === 'send' && this.entry.request.text !== undefined),
      receivers: this.#receivers,
      pausedBy: this.state !== 'paused' ? undefined : this.entry.paused ? 'self' : 'peer',
      ...peers,
      resumedBytes: summary?.resumedBytes ?? resumedBytes,
      skipped: summary?.skipped ?? 0,
      seconds: summary?.seconds ?? 0,
      retriable: this.#end !== undefined && this.codeIsGood && this.#context.hasSource(this),
    };
  }

  get #receivers(): number {
    if (this.entry.kind === 'receive') return 1;
    const { to, receivers = 1 } = this.entry.request;
    return to.length || receivers;
  }

  get #contact(): string | undefined {
    const { entry } = this;
    if (entry.kind === 'receive') return entry.contact;
    return entry.request.to.length === 0 ? undefined : entry.request.to.join(', ');
  }

  /** The history entry of an ended transfer; undefined if it has not ended or must leave no trace. */
  historyEntry(): HistoryEntry | undefined {
    const { entry } = this;
    if (this.#end === undefined || entry.request.incognito) return undefined;
    const { state, ...end } = this.#end;
    const error = state === 'cancelled' ? new KeibiError('CANCELLED') : end.error;
    const place = entry.kind === 'receive' ? (entry.place ?? '') : this.#isDrop ? '' : placeOf(entry.request.paths);
    return historyEntryOf({ kind: entry.kind, place, contact: this.#contact, figures: this.#figures, ...end, error });
  }

  /** The folder that it receives into or sends from. @throws USAGE if the user has no such folder */
  folder(): string {
    const { entry } = this;
    const { place = '' } =
      entry.kind === 'receive' ? entry : { place: this.#isDrop ? '' : placeOf(entry.request.paths) };
    if (place === '') throw new KeibiError('USAGE', 'It has no folder.');
    return place;
  }

  get #isDrop(): boolean {
    return this.entry.kind === 'send' && this.entry.request.drop !== undefined;
  }

  /** Starts a run; a failure becomes its end. */
  begin(): void {
    if (this.#run !== undefined) return;
    const ending = new AbortController();
    const pausing = new PauseSwitch();
    if (this.entry.paused) pausing.pause();
    const run = { ending, pausing, over: Promise.resolve() };
    this.#run = run;
    this.#end = undefined;
    this.#figures = this.#fresh();
    this.#peers = this.#freshPeers();
    this.#context.lists.begin(this.id);
    run.over = this.#transfer(ending.signal, pausing).then(
      (summary) => this.#finish(endOf(summary)),
      (reason) => this.#finish(failureOf(reason, ending.signal)),
    );
    this.#context.onChange(this);
  }

  /** Pauses or resumes it for the user. */
  pause(paused: boolean): void {
    if (this.#end !== undefined || this.entry.paused === paused) return;
    this.entry.paused = paused;
    this.#hold();
    void this.#context.onEntry(this);
    this.#context.onChange(this);
  }

  /** Pauses or resumes it for the queue. */
  hold(held: boolean): void {
    if (this.#held === held) return;
    this.#held = held;
    this.#hold();
    this.#context.onChange(this);
  }

  /** Cancels it, unless it has ended. Resolves when it has ended. */
  async cancel(): Promise<void> {
    const run = this.#run;
    if (run === undefined) {
      if (this.#end === undefined) this.#finish({ at: Date.now(), state: 'cancelled' });
      return;
    }
    run.ending.abort(new KeibiError('CANCELLED'));
    await run.over;
  }

  /** Resets an ended transfer, so that it can run again. */
  renew(): void {
    if (this.#run !== undefined) return;
    if (this.#end?.error?.code === 'CODE_EXHAUSTED') this.entry.code = undefined;
    this.#end = undefined;
    this.entry.paused = false;
    void this.#context.onEntry(this);
    this.#context.onChange(this);
  }

  /** Stops the run because the daemon ends; the next daemon resumes it. */
  async suspend(): Promise<void> {
    const run = this.#run;
    run?.ending.abort(new KeibiError('SESSION_CLOSED', 'The daemon has ended.'));
    await run?.over;
  }

  async #transfer(signal: AbortSignal, pausing: PauseSwitch): Promise<TransferSummary> {
    const { entry } = this;
    const { read, sendTo, introducing, lists } = this.#context;
    const { save: name } = entry.request;
    const save = name === undefined ? undefined : await introducing(name);
    const entriesOf = (session: number) => lists.open(this.id, session);
    const run = { signal, pausing, verbose: true, entriesOf, onEvent: (event: PeerEvent) => this.#onEvent(event) };
    if (entry.kind === 'send') {
      // A stored code was drawn, and so is strong enough, or the user insisted on it.
      const again = entry.code === undefined ? {} : { code: entry.code, insecureCode: true };
      const options = { ...(await sendOptionsOf({ ...entry.request, ...again }, read)), ...run };
      const { to } = entry.request;
      if (to.length === 0) return send({ ...options, save });
      const { code, wordCount, insecureCode, receivers, ...offer } = options;
      return sendTo(to, offer);
    }
    const options = await receiveOptionsOf(entry.request, read);
    entry.place = options.out;
    return receive({
      ...options,
      ...run,
      save,
      confirm: entry.request.yes ? undefined : (offer) => this.#confirm(offer, entry, signal),
      resolveCollision: (file) => this.#resolveCollision(file, signal),
      keepText: (text) => this.#context.keepText(this, text, this.#figures.last),
    });
  }

  async #confirm(offer: OfferSummary, entry: ReceiveEntry, signal: AbortSignal): Promise<OfferAnswer> {
    const { names, nameCount, peer, text, stream } = offer;
    const { place = '', agreed } = entry;
    const key = JSON.stringify([names, nameCount, peer, text, stream]);
    const isAgreed = agreed !== undefined && offer.files <= agreed.files && offer.bytes <= agreed.bytes;
    if (entry.accepted === key || isAgreed) return { out: place };
    const value = { ...offer, place, freeBytes: await freeBytes(place) };
    const { answer, out = place } = await this.#ask({ $case: 'offer', value }, ['yes', 'no'], signal);
    if (answer !== 'yes') return false;
    entry.accepted = key;
    // Later runs, also of another daemon, use the same destination.
    if (out !== place) entry.place = entry.request.out = out;
    await this.#context.onEntry(this);
    return { out };
  }

  async #resolveCollision(file: string, signal: AbortSignal) {
    if (this.#always !== undefined) return this.#always;
    const answers = ['rename', 'overwrite', 'skip'] as const;
    const value = { file, place: this.entry.place ?? '' };
    const given = await this.#ask({ $case: 'collision', value }, answers, signal);
    const answer = answers.find((one) => one === given.answer) ?? 'skip';
    if (given.always) this.#always = answer;
    return answer;
  }

  async #ask(about: Asked['about'], answers: readonly string[], signal: AbortSignal) {
    this.#asking++;
    this.#context.onChange(this);
    try {
      return await this.#context.questions.ask({ transfer: this.id, about, answers }, { signal });
    } finally {
      this.#asking--;
      this.#context.onChange(this);
    }
  }

  #onEvent(event: PeerEvent): void {
    if (this.#unreported !== undefined) this.#unreported.push(event);
    else if (event.type === 'code' && this.entry.code !== event.code) void this.#keepCode(event);
    else this.#report(event);
  }

  /** Stores a new code before any client sees it, so that the next daemon knows it. */
  async #keepCode(event: CodeEvent): Promise<void> {
    const unreported: PeerEvent[] = [event];
    this.#unreported = unreported;
    this.entry.code = event.code;
    await this.#context.onEntry(this);
    this.#unreported = undefined;
    for (const each of unreported) this.#report(each);
  }

  #report(event: PeerEvent): void {
    this.#figures.take(event);
    this.#peers.take(event);
    const emitted = transferEvent(event, this.#receivers !== 1);
    if (emitted !== undefined) this.#context.onEvent(this, emitted);
    if (!NUMBERS.includes(event.type)) this.#context.onChange(this);
  }

  #hold(): void {
    const pausing = this.#run?.pausing;
    if (this.entry.paused || this.#held) pausing?.pause();
    else pausing?.resume();
  }

  #finish(end: TransferEnd): void {
    this.#run = undefined;
    this.#end = end;
    this.#held = false;
    this.#always = undefined;
    this.#figures.sessions.clear();
    this.#peers.end(end.state, end.error?.code);
    this.#context.lists.end(this.id);
    if (end.error) {
      const { code, message } = end.error;
      this.#context.onEvent(this, { happened: { $case: 'error', value: { code, message } } });
    }
    this.#context.onChange(this);
  }

  #freshPeers(): PeerStats {
    const { kind, request } = this.entry;
    return new PeerStats(kind === 'send' && request.to.length === 0 ? MAX_WRONG_GUESSES : 0);
  }

  #fresh(): TransferStats {
    const { entry } = this;
    return new TransferStats(entry.kind === 'send' ? offeredBy(entry.request) : '');
  }
}

/** Events that change nothing but numbers. */
const NUMBERS: readonly PeerEvent['type'][] = ['progress', 'file', 'failed'];
