// SPDX-License-Identifier: MPL-2.0
import { isDeepStrictEqual } from 'node:util';
import type { ConnectedEvent } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import type { Emitted, EventStream } from '../event-stream.ts';
import type { PullInvitation } from '../folders/pull-invitation.ts';
import type { History } from '../history/history.ts';
import { fieldsIn, isId, type Journal } from '../journal.ts';
import type { KeptTexts } from '../kept-texts.ts';
import type { Drops } from '../page/drops.ts';
import type { Prompts } from '../prompts.ts';
import { FileLists } from './file-lists.ts';
import { Transfer, type TransferContext } from './transfer.ts';
import type { InvitedReceive, Order, TransferEntry } from './transfer-entry.ts';
import { type ReadSettings, receiveOptionsOf, sendOptionsOf } from './transfer-options.ts';

/** Limit of sends that wait for receivers, each with a port of its own. Later sends begin when earlier ones end. */
const MAX_BEGUN_SENDS = 32;
/** Limit of ended transfers in the list; the oldest are removed. */
const MAX_ENDED = 200;
/** Limit of transfers that have not ended. */
const MAX_TRANSFERS = 10_000;
/** Limit of unread texts. One more is refused, so that its sender notices. */
const MAX_UNREAD = 1000;
const FIRST_INCOGNITO = 1_000_001;

export interface TransfersOptions {
  read: ReadSettings;
  sendTo: TransferContext['sendTo'];
  introducing: TransferContext['introducing'];
  events: EventStream;
  questions: Prompts;
  drops: Drops;
  texts: KeptTexts;
  history: History;
  journal: Journal<TransferEntry>;
  /** Reports an error that no client waits for. */
  onTrouble(error: KeibiError): void;
}

/**
 * Every send and receive of this daemon, in the order of its queue.
 *
 * A send begins at once, so that its code can be shared. Among the accepted and unpaused sends the first of the queue moves
 * bytes. The others are held, except those requested with `now`. Receives are never held.
 */
export class Transfers {
  /** The file lists of all transfers. */
  readonly lists = new FileLists();
  readonly #options: TransfersOptions;
  readonly #all: Transfer[] = [];
  readonly #reported = new Map<Transfer, local.Transfer>();
  readonly #recorded = new WeakSet<object>();
  #next = 1;
  /** A separate series of numbers, so that incognito transfers leave no gap in the other one. */
  #nextIncognito = FIRST_INCOGNITO;
  /** Orders that are not on the disk yet; they must not begin before. */
  readonly #unsaved = new Set<TransferEntry>();
  #closing = false;
  #scheduling = false;

  constructor(options: TransfersOptions) {
    this.#options = options;
  }

  /** The browser uploads that some transfers send. */
  get drops(): Drops {
    return this.#options.drops;
  }

  /** Restores the unfinished transfers of an earlier daemon. @returns  where a damaged journal is kept */
  async restore(): Promise<string | undefined> {
    const { state, damaged } = await this.#options.journal.read();
    this.#next = state?.next ?? 1;
    await this.#options.drops.restore((state?.entries ?? []).flatMap(dropOf));
    for (const entry of state?.entries ?? []) await this.#restoreOne(entry);
    this.#schedule();
    return damaged;
  }

  /** Reports a text that cannot be read; the other entries are still restored. */
  async #restoreOne(entry: TransferEntry): Promise<void> {
    if (entry.unread === undefined) return void this.#insert(entry);
    const { texts, onTrouble } = this.#options;
    try {
      const text = await texts.get(entry.id);
      if (text === undefined) throw new KeibiError('CONFIG_INVALID', `The text of transfer ${entry.id} is missing.`);
      this.#insert(entry, text);
    } catch (reason) {
      onTrouble(KeibiError.from(reason, 'INTERNAL'));
    }
  }

  /** A text was shown, so it need not survive this daemon. */
  async shown(transfer: Transfer): Promise<void> {
    const { entry, id } = transfer;
    if (entry.unread === undefined) return;
    entry.unread = undefined;
    await this.save();
    await this.#options.texts.remove(id);
    this.#onChange(transfer);
  }

  async #keepText({ entry, id }: Transfer, text: string, from: ConnectedEvent | undefined): Promise<void> {
    if (entry.request.incognito) return;
    if (this.#all.filter(({ entry: { unread } }) => unread !== undefined).length >= MAX_UNREAD)
      throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'Too many texts wait to be read. See keibidrop transfers.');
    await this.#options.texts.put(id, text);
    entry.unread = { at: Date.now(), from };
    await this.save();
    // A closed journal has not stored it.
    if (this.#closing) throw new KeibiError('DAEMON_LOST');
  }

  /** Accepts an order and stores it. @throws USAGE, CODE_MALFORMED, CONFIG_INVALID, DISK_FULL */
  async add(order: Order, about: Pick<TransferEntry, 'agreed' | 'contact' | 'pull'> = {}): Promise<Transfer> {
    const { read } = this.#options;
    const place = await checked(order, read);
    if (this.#closing) throw new KeibiError('DAEMON_LOST');
    if (this.#all.length >= MAX_TRANSFERS) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'The queue is full.');
    const { incognito } = order.request;
    const id = incognito ? this.#nextIncognito++ : this.#next++;
    const entry: TransferEntry = { ...order, id, added: Date.now(), paused: false, place, ...about };
    if (!incognito) this.#unsaved.add(entry);
    const transfer = this.#insert(entry);
    try {
      if (!incognito) await this.save();
    } catch (reason) {
      // The client sees a failure, so its code must not wait for a receiver.
      this.#drop(transfer);
      throw reason;
    } finally {
      this.#unsaved.delete(entry);
    }
    this.#schedule();
    return transfer;
  }

  /**
   * Accepts a contact's invitation, into `out` or where the settings say. A larger size than `agreed` needs the user's
   * confirmation.
   */
  addInvited({ contact, code, agreed, ...to }: InvitedReceive): Promise<Transfer> {
    const yes = agreed === undefined;
    const request = { code, ...to, yes, verify: false, durable: false, incognito: false, reach: undefined };
    return this.add({ kind: 'receive', request }, { contact, agreed });
  }

  list(): readonly Transfer[] {
    return this.#all;
  }

  /** @throws TRANSFER_UNKNOWN */
  get(id: number): Transfer {
    const found = this.#all.find((transfer) => transfer.id === id);
    if (found === undefined) throw new KeibiError('TRANSFER_UNKNOWN');
    return found;
  }

  /** Pauses or resumes all transfers that have not ended. */
  pauseAll(paused: boolean): void {
    for (const transfer of this.#all) transfer.pause(paused);
  }

  /**
   * Runs an ended transfer again, as the last of the queue.
   *
   * @param invite  requests another code, for data pulled from a share
   * @throws USAGE if it has not ended, or its code was refused; DROP_UNKNOWN; the errors of `invite`
   */
  async retry(transfer: Transfer, invite: (paths: string[]) => Promise<PullInvitation>): Promise<void> {
    if (transfer.end === undefined) throw new KeibiError('USAGE', 'It has not ended, so there is nothing to retry.');
    const { pull, request } = transfer.entry;
    if (!this.#hasSource(transfer)) throw new KeibiError('DROP_UNKNOWN');
    if (!transfer.codeIsGood) throw new KeibiError('USAGE', 'That code was wrong. Receive with another.');
    if (pull !== undefined) Object.assign(request, await invite(pull));
    this.#move(transfer, this.#all.length);
    transfer.renew();
    this.#schedule();
  }

  /** Moves one to the front of the queue. */
  first(transfer: Transfer): void {
    this.#move(transfer, 0);
    void this.#onEntry();
    this.#schedule();
  }

  /** Removes an ended transfer from the list. @throws USAGE if it has not ended */
  remove(transfer: Transfer): void {
    if (transfer.end === undefined) throw new KeibiError('USAGE', 'It has not ended. Cancel it first.');
    this.#forget(transfer);
  }

  /** Ends all; the next daemon resumes them as last saved. @returns  how many */
  async close(): Promise<number> {
    const unfinished = this.#all.filter(({ end, entry }) => end === undefined && !entry.request.incognito);
    await this.#onEntry();
    this.#closing = true;
    await Promise.all(this.#all.map((transfer) => transfer.suspend()));
    const { drops } = this.#options;
    const over = this.#all.filter((transfer) => !isRemembered(transfer));
    await Promise.all([drops.close(), ...over.flatMap(({ entry }) => dropOf(entry).map((id) => drops.remove(id)))]);
    return unfinished.length;
  }

  #insert(entry: TransferEntry, text?: string): Transfer {
    const { read, sendTo, introducing, questions } = this.#options;
    const context: TransferContext = {
      read,
      sendTo,
      introducing,
      questions,
      lists: this.lists,
      hasSource: (of) => this.#hasSource(of),
      onEvent: (of, event) => this.#emit(of, event),
      onChange: (changed) => this.#onChange(changed),
      onEntry: (of) => (of.entry.request.incognito ? Promise.resolve() : this.#onEntry()),
      keepText: (of, words, from) => this.#keepText(of, words, from),
    };
    const transfer = new Transfer(entry, context, text);
    // An earlier daemon has recorded its end.
    if (transfer.end !== undefined) this.#recorded.add(transfer.end);
    this.#all.push(transfer);
    this.#onChange(transfer);
    return transfer;
  }

  #emit({ id }: Transfer, event: Emitted): void {
    this.#options.events.emit(id, event);
  }

  #onChange(transfer: Transfer): void {
    if (this.#closing) return;
    const { end } = transfer;
    if (end !== undefined && !this.#recorded.has(end)) {
      this.#recorded.add(end);
      // A failed transfer may be retried.
      if (end.state !== 'failed' || transfer.entry.request.incognito) this.#removeDrop(transfer);
      this.#record(transfer);
    }
    if (this.#all.includes(transfer)) this.#schedule();
    const view = transfer.view();
    if (isDeepStrictEqual(withoutNumbers(view), withoutNumbers(this.#reported.get(transfer)))) return;
    this.#reported.set(transfer, view);
    this.#emit(transfer, { happened: { $case: 'changed', value: view } });
  }

  #removeDrop({ entry }: Transfer): void {
    const { drops, onTrouble } = this.#options;
    for (const id of dropOf(entry)) {
      drops.remove(id).catch((reason) => onTrouble(KeibiError.from(reason, 'INTERNAL')));
    }
  }

  #hasSource({ entry }: Transfer): boolean {
    return dropOf(entry).every((id) => this.#options.drops.isTaken(id));
  }

  #onEntry(): Promise<void> {
    return this.save().catch((reason) => this.#options.onTrouble(KeibiError.from(reason, 'INTERNAL')));
  }

  #record(transfer: Transfer): void {
    const { onTrouble, history } = this.#options;
    if (!transfer.entry.request.incognito) void this.#onEntry();
    const entry = transfer.historyEntry();
    if (entry !== undefined) history.add(entry).catch((reason) => onTrouble(KeibiError.from(reason, 'INTERNAL')));
    const ended = this.#all.filter((each) => each.end !== undefined && each.entry.unread === undefined);
    for (const old of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#forget(old);
  }

  #forget(transfer: Transfer): void {
    this.#removeDrop(transfer);
    if (transfer.entry.unread !== undefined) void this.#forgetText(transfer);
    this.#drop(transfer);
  }

  #drop(transfer: Transfer): void {
    this.#reported.delete(transfer);
    this.lists.remove(transfer.id);
    this.#all.splice(this.#all.indexOf(transfer), 1);
    this.#emit(transfer, { happened: { $case: 'removed', value: {} } });
  }

  async #forgetText({ entry, id }: Transfer): Promise<void> {
    entry.unread = undefined;
    await this.#onEntry();
    await this.#options.texts
      .remove(id)
      .catch((reason) => this.#options.onTrouble(KeibiError.from(reason, 'INTERNAL')));
  }

  #move(transfer: Transfer, to: number): void {
    this.#all.splice(this.#all.indexOf(transfer), 1);
    this.#all.splice(to, 0, transfer);
  }

  /** Resolves once all transfers to restore are on the disk. @throws DISK_FULL, CONFIG_INVALID */
  save(): Promise<void> {
    if (this.#closing) return Promise.resolve();
    return this.#options.journal.write(() => ({
      next: this.#next,
      entries: this.#all.filter(isRemembered).map(({ entry }) => entry),
    }));
  }

  /** Starts the transfers that may begin. Of the sends with a receiver, only the first may move bytes. */
  #schedule(): void {
    // Changes that scheduling itself causes must not schedule again.
    if (this.#scheduling || this.#closing) return;
    this.#scheduling = true;
    const open = this.#all.filter(({ end, entry }) => end === undefined && !this.#unsaved.has(entry));
    const sends = open.filter(({ entry }) => entry.kind === 'send');
    const mayBegin = [...open.filter(({ entry }) => entry.kind === 'receive'), ...sends.slice(0, MAX_BEGUN_SENDS)];
    for (const transfer of mayBegin) if (!transfer.begun && !transfer.entry.paused) transfer.begin();
    const inTurn = sends.filter(({ entry }) => entry.kind === 'send' && !entry.request.now);
    // A receiver that has paused or not answered must not block the other sends.
    const [first] = inTurn.filter(({ mayMove }) => mayMove);
    for (const transfer of inTurn) transfer.hold(transfer.connected && first !== undefined && transfer !== first);
    this.#scheduling = false;
  }
}

/** Reads an order as its run will. @returns  the destination of a receive */
async function checked(order: Order, read: ReadSettings): Promise<string | undefined> {
  if (order.kind === 'receive') return (await receiveOptionsOf(order.request, read)).out;
  await sendOptionsOf(order.request, read);
  return undefined;
}

/** Whether a value from the journal is a valid entry. Its settings are checked when it begins. */
export function isTransferEntry(value: unknown): boolean {
  const { id, kind, added, paused, request } = fieldsIn(value);
  const { paths, to, code } = fieldsIn(request);
  if (!isId(id) || typeof added !== 'number' || typeof paused !== 'boolean') return false;
  if (kind === 'receive') return typeof code === 'string';
  return (
    kind === 'send' &&
    [paths, to].every((texts) => Array.isArray(texts) && texts.every((one) => typeof one === 'string'))
  );
}

function isRemembered({ end, entry }: Transfer): boolean {
  return (end === undefined || entry.unread !== undefined) && !entry.request.incognito;
}

/** The fields of a transfer that are reported on change; progress has its own events. */
function withoutNumbers(view: local.Transfer | undefined): Partial<local.Transfer> | undefined {
  if (view === undefined) return undefined;
  const { files, bytes, totalFiles, totalBytes, totalsFinal, bytesPerSecond, failed, resumedBytes, ...rest } = view;
  return { ...rest, peers: rest.peers.map((peer) => ({ ...fieldsWithoutNumbers(peer) }) as local.TransferPeer) };
}

function fieldsWithoutNumbers(peer: local.TransferPeer): Partial<local.TransferPeer> {
  const { files, bytes, totalFiles, totalBytes, totalsFinal, bytesPerSecond, failed, resumedBytes, ...rest } = peer;
  return rest;
}

/** The drop that it sends, if any. */
function dropOf(entry: TransferEntry): string[] {
  return entry.kind === 'send' && entry.request.drop !== undefined ? [entry.request.drop] : [];
}
