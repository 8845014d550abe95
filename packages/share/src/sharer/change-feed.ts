// SPDX-License-Identifier: MPL-2.0
import { type Change, ChangeWatch } from '@keibidrop/native';
import { ChangeKind, type ChangeNotice } from '@keibidrop/proto';
import { KeibiError, MAX_NOTICE_CHANGES } from '@keibidrop/protocol';
import { FileWatch } from './file-watch.ts';
import type { ShareFolder } from './share-folder.ts';

/** From the first change to its notice: changes within this time share one notice. */
const GATHER_MS = 100;
/** Changes kept for a guest that does not take them. Beyond this it must look at everything again. */
const MOST_WAITING = 8192;
/** The limit of all paths in one notice, so that it fits a message. */
const MOST_NOTICE_CHARACTERS = 128 * 1024;

const KINDS = {
  created: ChangeKind.CREATED,
  replaced: ChangeKind.REPLACED,
  changed: ChangeKind.CHANGED,
  removed: ChangeKind.REMOVED,
} as const;

/** The kind to report for a path that changed twice. */
function merged(before: Change['kind'] | undefined, now: Change['kind']): Change['kind'] {
  if (now === 'removed' || now === 'replaced') return now;
  if (before === 'removed') return 'replaced';
  return before === undefined || before === 'changed' ? now : before;
}

/** The changes of a shared folder, for any number of followers. The watch begins with the first follower. */
export class ChangeFeed {
  readonly #shared: Pick<ShareFolder, 'path' | 'only'>;
  readonly #onTrouble: (trouble: KeibiError) => void;
  readonly #followers = new Set<Follower>();
  #watch: ChangeWatch | FileWatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watching = false;
  #incomplete = false;
  #closed = false;

  /** @param onTrouble  a part of the folder cannot be watched: called once */
  constructor(shared: Pick<ShareFolder, 'path' | 'only'>, onTrouble: (trouble: KeibiError) => void) {
    this.#shared = shared;
    this.#onTrouble = onTrouble;
  }

  /**
   * Yields changes until `signal`. The first notice comes when the whole folder is watched.
   *
   * A slow follower gets fewer notices: each holds a path once, however often it has changed.
   */
  async *follow({ signal }: { signal: AbortSignal }): AsyncGenerator<ChangeNotice> {
    const follower = new Follower(signal);
    this.#followers.add(follower);
    if (!this.#closed) this.#watch ??= this.#openWatch();
    if (this.#watching) follower.begin();
    try {
      while (await follower.hasNews()) yield follower.take(this.#incomplete);
    } finally {
      follower.end();
      this.#followers.delete(follower);
    }
  }

  /** Ends the watch and all followers. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const follower of this.#followers) follower.end();
    await this.#watch?.close();
  }

  #openWatch(): ChangeWatch | FileWatch {
    const { path, only } = this.#shared;
    const onWake = () => this.#gather();
    return only === undefined ? new ChangeWatch(path, onWake) : new FileWatch(path, only, onWake);
  }

  #gather(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#notify();
    }, GATHER_MS);
  }

  #notify(): void {
    if (this.#watch === undefined || this.#closed) return;
    const { changes, watching, missed, trouble } = this.#watch.take();
    if (trouble !== undefined && !this.#incomplete) {
      this.#incomplete = true;
      this.#onTrouble(KeibiError.from(trouble, 'INTERNAL'));
    }
    for (const follower of this.#followers) follower.add(changes, missed);
    // Do not wait for parts that cannot be watched: the first notice reports that changes are incomplete.
    if (!this.#watching && (watching || trouble !== undefined)) {
      this.#watching = true;
      for (const follower of this.#followers) follower.begin();
    }
  }
}

/** The changes that one follower has not taken yet. */
class Follower {
  readonly #signal: AbortSignal;
  readonly #waiting = new Map<string, Change['kind']>();
  readonly #onAbort = () => this.end();
  #lookAgain = false;
  #begun = false;
  /** The first notice has been taken. */
  #greeted = false;
  #ended = false;
  #notify: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.end();
  }

  begin(): void {
    this.#begun = true;
    this.#notify();
  }

  add(changes: readonly Change[], missed: boolean): void {
    for (const { kind, path } of changes) {
      this.#waiting.set(path, merged(this.#waiting.get(path), kind));
    }
    if (missed || this.#waiting.size > MOST_WAITING) {
      this.#waiting.clear();
      this.#lookAgain = true;
    }
    this.#notify();
  }

  /** Resolves with false once the follower has ended. */
  async hasNews(): Promise<boolean> {
    while (!this.#ended && !this.#isReady()) {
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
    }
    return !this.#ended;
  }

  take(incomplete: boolean): ChangeNotice {
    const changes: ChangeNotice['changes'] = [];
    let characters = 0;
    for (const [path, kind] of this.#waiting) {
      characters += path.length;
      if (changes.length === MAX_NOTICE_CHANGES || (characters > MOST_NOTICE_CHARACTERS && changes.length > 0)) break;
      changes.push({ path, kind: KINDS[kind] });
      this.#waiting.delete(path);
    }
    const lookAgain = this.#lookAgain;
    this.#lookAgain = false;
    this.#greeted = true;
    return { changes, lookAgain, incomplete };
  }

  end(): void {
    this.#ended = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#notify();
  }

  #isReady(): boolean {
    return this.#begun && (!this.#greeted || this.#lookAgain || this.#waiting.size > 0);
  }
}
