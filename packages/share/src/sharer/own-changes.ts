// SPDX-License-Identifier: MPL-2.0
import { ChangeKind, type ChangeNotice } from '@keibidrop/proto';

/** The limits of remembered entries and their paths: notices come within a second of the change. */
const MOST = 2048;
const MOST_PATH_CHARACTERS = 1024;
/** The first byte of an entry is its type (PROTOCOL 6). */
const DIRECTORY = 2;

/**
 * The entries that one guest changed in one session, as answered: their notices are left out for this guest. Notices of
 * directories are kept, since a new directory stands for everything below it, too.
 */
export class OwnChanges {
  readonly #look: (path: string) => Promise<Uint8Array>;
  readonly #answered = new Map<string, Uint8Array>();
  #forgotten = 0;

  /** @param look  the current entry of a path, as it is answered */
  constructor(look: (path: string) => Promise<Uint8Array>) {
    this.#look = look;
  }

  /** Remembers the entry that a change results in. */
  async answer(path: string, change: Promise<Uint8Array>): Promise<Uint8Array> {
    const forgotten = this.#forgotten;
    const entry = await change;
    if (forgotten === this.#forgotten) this.#keep(path, entry);
    return entry;
  }

  /** The guest may have missed an answer, or may miss one. */
  forget(): void {
    this.#forgotten++;
    this.#answered.clear();
  }

  #keep(path: string, entry: Uint8Array): void {
    this.#answered.delete(path);
    if (entry[0] === DIRECTORY || path.length > MOST_PATH_CHARACTERS) return;
    this.#answered.set(path, entry);
    for (const oldest of this.#answered.keys()) {
      if (this.#answered.size <= MOST) break;
      this.#answered.delete(oldest);
    }
  }

  /** The notices without own changes; an empty notice is dropped. */
  async *leftOut(notices: AsyncIterable<ChangeNotice>): AsyncGenerator<ChangeNotice> {
    let incomplete: boolean | undefined;
    for await (const notice of notices) {
      if (notice.lookAgain) this.forget();
      const changes = await this.#news(notice.changes);
      if (changes.length === 0 && !notice.lookAgain && notice.incomplete === incomplete) continue;
      incomplete = notice.incomplete;
      yield { ...notice, changes };
    }
  }

  async #news(changes: ChangeNotice['changes']): Promise<ChangeNotice['changes']> {
    const stands = await Promise.all(changes.map((change) => this.#stands(change)));
    return changes.filter((_change, i) => !stands[i]);
  }

  /** Whether the entry is still as answered. Once it is not, the guest gets every notice of it. */
  async #stands({ kind, path }: ChangeNotice['changes'][number]): Promise<boolean> {
    if (!this.#answered.has(path)) return false;
    const there = kind === ChangeKind.REMOVED ? undefined : await this.#look(path).catch(() => undefined);
    const answered = this.#answered.get(path);
    const stands = there !== undefined && answered !== undefined && Buffer.compare(there, answered) === 0;
    if (!stands) this.#answered.delete(path);
    return stands;
  }
}
