// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { EntryList, EntryLog, type EntryState } from '@keibidrop/transfer';

/**
 * Limit of all lists together: some three million entries. Lists of ended transfers are evicted first, the oldest before the
 * others.
 */
const MAX_KEPT_BYTES = 128 * 2 ** 20;
/** Limit of sessions per transfer; the oldest list is evicted. */
const MAX_SESSIONS = 64;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MAX_FILTER = 1024;
const STATES: readonly EntryState[] = ['pending', 'running', 'done', 'skipped', 'failed'];

interface SessionList {
  log: EntryLog;
  list: EntryList;
  bytes: number;
}

interface TransferLists {
  sessions: Map<number, SessionList>;
  ended: boolean;
}

/** The files of the daemon's transfers, for clients that list them. */
export class FileLists {
  readonly #transfers = new Map<number, TransferLists>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Starts a run of a transfer, and drops the lists of an earlier run. */
  begin(transfer: number): void {
    this.remove(transfer);
    this.#transfers.set(transfer, { sessions: new Map(), ended: false });
  }

  /** Opens the list in which a session of a running transfer records its files. */
  open(transfer: number, session: number): EntryLog {
    const { sessions } = this.#transfers.get(transfer) ?? { sessions: new Map<number, SessionList>() };
    const before = sessions.get(session);
    const [other] = [before, ...sessions.values()].filter((one) => one !== undefined && !one.log.forgotten);
    const opened: SessionList = { bytes: 0 } as SessionList;
    opened.log = new EntryLog(
      (bytes) => this.#keep(opened, bytes),
      other && { log: other.log, samePeer: other === before },
    );
    opened.list = new EntryList(opened.log);
    if (before !== undefined) this.#bytes -= before.bytes;
    // Re-inserted, so that the newest is last.
    sessions.delete(session);
    sessions.set(session, opened);
    const [oldest] = sessions;
    if (oldest !== undefined && sessions.size > MAX_SESSIONS) {
      this.#release(oldest[1]);
      sessions.delete(oldest[0]);
    }
    return opened.log;
  }

  /** Marks a transfer as ended. Its lists stay as long as there is room. */
  end(transfer: number): void {
    const lists = this.#transfers.get(transfer);
    if (lists !== undefined) lists.ended = true;
  }

  remove(transfer: number): void {
    const lists = this.#transfers.get(transfer);
    this.#transfers.delete(transfer);
    for (const one of lists?.sessions.values() ?? []) this.#release(one);
  }

  /** Returns a part of a transfer's list. @throws USAGE; `signal.reason` */
  async part(request: local.FilesRequest, signal: AbortSignal): Promise<local.FilesReply> {
    const { transfer, first, limit = DEFAULT_LIMIT, filter = '', state, session } = request;
    if (limit > MAX_LIMIT) throw new KeibiError('USAGE', `One part has at most ${MAX_LIMIT} files.`);
    if (filter.length > MAX_FILTER) throw new KeibiError('USAGE', 'That filter is too long.');
    if (state !== undefined && !isState(state))
      throw new KeibiError('USAGE', `state must be one of ${STATES.join(', ')}.`);
    const sessions = this.#transfers.get(transfer)?.sessions ?? new Map<number, SessionList>();
    const wanted = session === undefined ? [...sessions.values()].at(-1) : sessions.get(session);
    if (wanted === undefined) return { total: 0, files: [], complete: false, forgotten: false };
    const { log, list } = wanted;
    const { total, entries } = await list.part({ first, limit, filter, state }, signal);
    return { total, files: entries, complete: log.complete, forgotten: log.forgotten };
  }

  #keep(of: SessionList, bytes: number): boolean {
    while (this.#bytes + bytes > this.#maxBytes) {
      const oldest = [...this.#transfers].find(([, { ended, sessions }]) => ended && sessions.size > 0);
      if (oldest === undefined) {
        this.#release(of);
        return false;
      }
      for (const one of oldest[1].sessions.values()) this.#release(one);
      // An empty entry marks the lists as evicted, so that they are not visited again.
      this.#transfers.delete(oldest[0]);
      this.#transfers.set(oldest[0], { sessions: new Map(), ended: true });
    }
    this.#bytes += bytes;
    of.bytes += bytes;
    return true;
  }

  #release(one: SessionList): void {
    this.#bytes -= one.bytes;
    one.bytes = 0;
    one.log.forget();
  }
}

function isState(text: string): text is EntryState {
  return STATES.some((state) => state === text);
}
