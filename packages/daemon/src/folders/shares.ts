// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { local } from '@keibidrop/proto';
import { KeibiError, parseCode, retryOf } from '@keibidrop/protocol';
import { KnownShares, openSharing, ShareGuest, type Sharing } from '@keibidrop/share';
import { folderPath } from '../folder-path.ts';
import type { HistoryEntry } from '../history/history.ts';
import { pullHistory } from '../history/pull-history.ts';
import { Journal } from '../journal.ts';
import { commonOf, flagsOf } from '../transfers/transfer-options.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { codeOf, isShareEntry, keptEntry, type ShareEntry } from './share-entry.ts';
import { unknownShare } from './share-unknown.ts';
import type { Connecting, SharesOptions } from './shares-options.ts';

/** Limit of this daemon's shares: each has a port or a connection. */
const MAX_SHARES = 256;
/** Pause before a restored share is tried again. */
const AGAIN_MS = 10_000;
const NO_GUESTS = { guests: 0, knownGuests: 0, forgottenGuests: 0 };

/** An open share. */
interface OpenShare {
  readonly entry: ShareEntry;
  view: local.Share;
  readonly ending: AbortController;
  guest?: ShareGuest;
  sharing?: Sharing;
}

/** The folders that this daemon shares, and the shares it is connected to. The next daemon restores them. */
export class Shares {
  readonly #options: SharesOptions;
  readonly #journal: Journal<ShareEntry>;
  readonly #open = new Map<number, OpenShare>();
  /** One promise per share, until it has ended. */
  readonly #running = new Set<Promise<void>>();
  readonly #known: KnownShares;
  #next = 1;
  #closing = false;

  constructor(options: SharesOptions) {
    this.#options = options;
    this.#journal = new Journal(options.file, isShareEntry);
    this.#known = new KnownShares(options.known.shares);
  }

  /** Restores the shares of an earlier daemon in the background, because a sharer may still be offline. */
  async restore(): Promise<string | undefined> {
    const { state, damaged } = await this.#journal.read();
    this.#next = state?.next ?? 1;
    for (const entry of state?.entries ?? []) {
      const { kind, id, name, added } = entry;
      const view = {
        id,
        name,
        added,
        kind,
        state: 'away',
        readOnly: false,
        ...NO_GUESTS,
        to: [],
      } as unknown as local.Share;
      const share = { entry, view, ending: new AbortController() };
      this.#open.set(id, share);
      this.#run(share, this.#bringBack(share));
    }
    return damaged;
  }

  list(): local.Share[] {
    return [...this.#open.values()].map(({ view, sharing }) => {
      const { known: knownGuests = 0, forgotten: forgottenGuests = 0 } = sharing?.guests ?? {};
      return { ...view, knownGuests, forgottenGuests };
    });
  }

  /** Shares a folder. @throws the errors of `share`; USAGE */
  async add(request: local.AddShareRequest): Promise<local.Share> {
    const path = folderPath(request.path);
    return this.#keep(await this.#share({ kind: 'own', request: { ...request, path }, ...this.#fresh() }));
  }

  /** Connects to a share. @throws the errors of ShareGuest.connect; USAGE */
  async connect(request: local.ConnectRequest, { signal }: { signal: AbortSignal }): Promise<local.Share> {
    return this.#connectNew(request, signal);
  }

  /** Connects to a folder that a contact shares with us. */
  async connectInvited({ contact, code }: { contact: string; code: string }): Promise<local.Share> {
    const request = { code, contact, connect: undefined, reach: undefined };
    try {
      return await this.#connectNew(request);
    } catch (reason) {
      const { code: why, message } = KeibiError.from(reason, 'INTERNAL');
      const value = { id: 0, name: '', contact, error: { code: why, message } };
      this.#options.events.emit(0, { happened: { $case: 'shareEnded', value } });
      throw reason;
    }
  }

  /** The share of a contact: the open one, or the one that it invites us to. Throws as acceptInvitation. */
  async accept(name: string, { signal }: { signal: AbortSignal }): Promise<local.Share> {
    const isIts = (contact: unknown) => typeof contact === 'string' && contact.toLowerCase() === name.toLowerCase();
    const open = this.list().find(({ contact }) => isIts(contact));
    return open ?? acceptInvitation(name, isIts, { ...this.#options, signal });
  }

  /** @throws SHARE_UNKNOWN */
  async end(name: string): Promise<local.Share> {
    const share = this.#named(name);
    share.ending.abort(new KeibiError('SESSION_CLOSED'));
    await share.guest?.close();
    return share.view;
  }

  /**
   * Finds the share that a client's path leads to, and the path within it.
   *
   * @param text  SHARE, SHARE/PATH, or a path within the only share
   * @throws SHARE_UNKNOWN
   */
  find(text: string): { guest: ShareGuest; view: local.Share; path: string } {
    const [name = '', ...rest] = text.replace(/\/+$/, '').split('/');
    const guests = [...this.#open.values()].filter(({ guest }) => guest !== undefined);
    const named = guests.find(({ view }) => view.name === name);
    const [only] = guests.length === 1 ? guests : [];
    const share = named ?? only;
    if (share?.guest === undefined)
      throw unknownShare(
        name,
        guests.map(({ view }) => view.name),
      );
    const path = named === undefined ? [name, ...rest].join('/') : rest.join('/');
    return { guest: share.guest, view: share.view, path };
  }

  /** A connected share by its name. */
  guest(name: string): { guest: ShareGuest; view: local.Share } | undefined {
    const found = [...this.#open.values()].find(({ view }) => view.name === name);
    return found?.guest && { guest: found.guest, view: found.view };
  }

  /** A connected share by the code under which we met it; the code itself is not stored. @throws CODE_MALFORMED */
  async guestOf(code: string): Promise<local.Share | undefined> {
    const name = await this.#known.nameOf(parseCode(code));
    const met = ({ entry, guest }: OpenShare) =>
      guest !== undefined && entry.kind === 'guest' && (entry.request.code === code || entry.met?.name === name);
    return [...this.#open.values()].find(met)?.view;
  }

  /** Connects with a code that the user has just entered. */
  async #connectNew(request: local.ConnectRequest, caller?: AbortSignal): Promise<local.Share> {
    return this.#keep(await this.#connect({ kind: 'guest', request, ...this.#fresh() }, { caller, codeGiven: true }));
  }

  /** How a connected share is met. @throws SHARE_UNKNOWN */
  requestOf(id: number): local.ConnectRequest {
    const { entry } = this.#open.get(id) ?? {};
    if (entry?.kind !== 'guest') throw new KeibiError('SHARE_UNKNOWN');
    return entry.request;
  }

  /** Ends all shares. The next daemon restores them as last saved. */
  async close(): Promise<void> {
    this.#closing = true;
    // Sent as a loss, not an end: guests wait for the next daemon, which shares under the same codes.
    for (const { ending } of this.#open.values()) ending.abort(new KeibiError('SESSION_LOST', 'The daemon has ended.'));
    await Promise.allSettled(this.#running);
  }

  /** Retries without limit and resolves once the share is open. @throws errors that a retry cannot mend */
  async #bringBack({ entry, ending }: OpenShare): Promise<void> {
    for (;;) {
      try {
        await (entry.kind === 'own' ? this.#share(entry, ending) : this.#connect(entry, { ending, codeGiven: false }));
        // Entries of older versions still contain their code, so save the entry without it.
        this.save().catch((reason) => this.#options.onTrouble(KeibiError.from(reason, 'INTERNAL')));
        return;
      } catch (reason) {
        ending.signal.throwIfAborted();
        const error = KeibiError.from(reason, 'INTERNAL');
        if (retryOf(error.code) === 'never') {
          this.#options.onTrouble(error);
          throw error;
        }
        await sleep(AGAIN_MS, undefined, { signal: ending.signal });
      }
    }
  }

  #fresh(): { id: number; added: number; name: string } {
    if (this.#closing) throw new KeibiError('DAEMON_LOST');
    if (this.#open.size >= MAX_SHARES)
      throw new KeibiError('TRANSFER_LIMIT_EXCEEDED', 'There are too many shares. End one first.');
    return { id: this.#next++, added: Date.now(), name: '' };
  }

  async #keep({ view, ending }: OpenShare): Promise<local.Share> {
    await this.save().catch((reason) => {
      ending.abort(reason);
      throw reason;
    });
    return view;
  }

  /** Resolves once all shares to restore are on the disk. @throws DISK_FULL, CONFIG_INVALID */
  save(): Promise<void> {
    return this.#journal.write(() => ({
      next: this.#next,
      entries: [...this.#open.values()].map(({ entry }) => keptEntry(entry)),
    }));
  }

  async #share(entry: ShareEntry & { kind: 'own' }, ending = new AbortController()): Promise<OpenShare> {
    const { path, readOnly, code, wordCount, insecureCode, listen, reach } = entry.request;
    const codeLength = wordCount === undefined ? undefined : String(wordCount);
    const settings = await this.#options.read({ ...flagsOf(reach), listen, codeLength });
    const here = new Set<number>();
    const record = pullHistory(path, (pulled) => this.#record(pulled));
    let share: OpenShare | undefined;
    const sharing = await openSharing({
      ...commonOf(reach, settings),
      dir: path,
      readOnly,
      journals: this.#options.journals,
      guests: this.#options.known.guests,
      code: code === undefined ? undefined : parseCode(code),
      wordCount: settings.codeLength,
      // A restored code was drawn, and so is strong enough, or the user insisted on it.
      insecureCode: insecureCode || entry.name !== '',
      listen: settings.listen,
      signal: ending.signal,
      onEvent: (event) => {
        record(event);
        if (event.type === 'code') entry.request.code = event.code;
        else if (event.type === 'connected') here.add(event.session);
        else if (event.type === 'guestLeft') here.delete(event.session);
        else return;
        if (share !== undefined) this.#change(share, { guests: here.size });
      },
    });
    const { to = [] } = entry.request;
    const own = { kind: 'own', state: 'open', folder: path, code: entry.request.code, readOnly, to };
    share = this.#insert(entry, ending, sharing.name, own);
    const opened = share;
    opened.sharing = sharing;
    this.#run(
      opened,
      sharing.ended.finally(() => sharing.close()),
    );
    for (const name of to) void this.#invite(opened, sharing, name);
    return opened;
  }

  /** Admits a contact under a code of its own, which is sent once the contact is online. */
  async #invite({ entry, view, ending }: OpenShare, sharing: Sharing, name: string): Promise<void> {
    const { signal } = ending;
    try {
      entry.invited ??= {};
      const known = entry.invited[name];
      const { text: code } = await sharing.invite(known && parseCode(known.code));
      entry.invited[name] = { code, answered: known?.answered ?? false };
      await this.save();
      if (known?.answered) return;
      const verdict = await this.#options.invite(name, { code, label: view.name }, { signal });
      entry.invited[name] = { code, answered: true };
      const value = { share: view.name, contact: name, verdict };
      this.#options.events.emit(0, { happened: { $case: 'shareAnswer', value } });
      await this.save();
    } catch (reason) {
      if (!signal.aborted) this.#options.onTrouble(KeibiError.from(reason, 'INTERNAL'));
    }
  }

  async #connect(
    entry: ShareEntry & { kind: 'guest' },
    { ending = new AbortController(), caller, codeGiven }: Connecting,
  ): Promise<OpenShare> {
    const { connect, reach } = entry.request;
    const code = codeOf(entry);
    const name = entry.met?.name ?? (await this.#known.nameOf(code));
    const settings = await this.#options.read({ ...flagsOf(reach), connect });
    let share: OpenShare | undefined;
    const onAbort = () => ending.abort(caller?.reason);
    caller?.addEventListener('abort', onAbort, { once: true });
    const { limitBytesPerSecond: _, ...meeting } = commonOf(reach, settings);
    try {
      let seen: Partial<local.Share> = {};
      const guest = await ShareGuest.connect({
        ...meeting,
        code,
        memory: this.#known.memoryOf(name),
        codeGiven,
        met: entry.met !== undefined,
        onTrouble: (error) => {
          if (error.code === 'SHARE_FORGOTTEN') seen = { ...seen, codeAgain: true };
          this.#options.onTrouble(error);
        },
        connect: settings.connect,
        // The user ends a share; an absent peer does not, however long it stays away.
        patienceMs: settings.patienceMs ?? Number.POSITIVE_INFINITY,
        signal: ending.signal,
        onEvent: (event) => {
          if (event.type === 'connected') {
            const { path, suite, peer } = event;
            seen = { ...seen, path, suite, peer, state: 'connected' };
          } else if (event.type === 'reconnecting') seen = { state: 'away' };
          if (share !== undefined) this.#change(share, seen);
        },
      });
      if (guest.isRemembered) entry.met = { nameplate: code.nameplate, name };
      const { contact } = entry.request;
      const fields = { kind: 'guest', readOnly: guest.info.readOnly, contact, ...seen };
      share = this.#insert(entry, ending, guest.info.name, fields);
      share.guest = guest;
      this.#options.onShare(share.view, true);
      this.#run(share, guest.closed);
      return share;
    } finally {
      caller?.removeEventListener('abort', onAbort);
    }
  }

  #record(pulled: HistoryEntry): void {
    const { history, onTrouble } = this.#options;
    history.add(pulled).catch((reason) => onTrouble(KeibiError.from(reason, 'INTERNAL')));
  }

  #insert(entry: ShareEntry, ending: AbortController, folder: string, fields: Partial<local.Share>): OpenShare {
    entry.name ||= this.#freeName(folder);
    const { id, added, name } = entry;
    const view = { id, name, added, kind: '', state: '', readOnly: false, ...NO_GUESTS, to: [], ...fields };
    const share: OpenShare = { entry, view: view as local.Share, ending };
    this.#open.set(id, share);
    this.#notify(share);
    return share;
  }

  /** `photos`, `photos-2`, … */
  #freeName(folder: string): string {
    const taken = new Set(this.list().map(({ name }) => name));
    let name = folder;
    for (let i = 2; taken.has(name); i++) name = `${folder}-${i}`;
    return name;
  }

  #change(share: OpenShare, fields: Partial<local.Share>): void {
    if (Object.entries(fields).every(([key, value]) => share.view[key as keyof local.Share] === value)) return;
    share.view = { ...share.view, ...fields };
    this.#notify(share);
  }

  #notify({ view }: OpenShare): void {
    this.#options.events.emit(0, { happened: { $case: 'share', value: view } });
    this.#options.onShare(view, true);
  }

  /** Tracks a share until it ends, then removes it. If the daemon itself ends, the share stays in the journal. */
  #run(share: OpenShare, over: Promise<void>): void {
    const running = over
      .then(
        () => undefined,
        (reason) => KeibiError.from(reason, 'INTERNAL'),
      )
      .then(async (error) => {
        const { id, name } = share.view;
        const wanted = share.ending.signal.aborted;
        // A restored share is tracked by a newer run.
        if (this.#closing || this.#open.get(id) !== share) return;
        this.#open.delete(id);
        const why = wanted || error === undefined ? undefined : { code: error.code, message: error.message };
        this.#options.events.emit(0, { happened: { $case: 'shareEnded', value: { id, name, error: why } } });
        this.#options.onShare(share.view, false, wanted ? undefined : error);
        await this.save();
      })
      .catch((reason) => this.#options.onTrouble(KeibiError.from(reason, 'INTERNAL')))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #named(name: string): OpenShare {
    const found = [...this.#open.values()].find(({ view }) => view.name === name);
    if (found === undefined)
      throw unknownShare(
        name,
        this.list().map((view) => view.name),
      );
    return found;
  }
}
