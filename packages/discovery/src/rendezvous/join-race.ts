// SPDX-License-Identifier: MPL-2.0
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import type { GuestConversation } from './rendezvous-client.ts';

/** A mailbox that was entered, and where. */
export interface JoinedMailbox {
  readonly pipe: GuestConversation;
  readonly place: Candidate;
}

/** A place that could not be entered. */
export interface FailedJoin {
  readonly place: Candidate;
  readonly error: KeibiError;
}

export interface JoinRaceOptions {
  /** Its next place is requested when the earlier ones have failed, or after STAGGER_MS. `over` ends the search. */
  places(over: AbortSignal): AsyncIterable<Candidate>;
  /** `over` is aborted when another place wins, and never after this one has won. */
  join(place: Candidate, over: AbortSignal): Promise<GuestConversation>;
  signal: AbortSignal;
}

/** Head start of each place before the next one is asked for. */
const STAGGER_MS = 250;

/**
 * Enters the mailbox at each place as it is found, with a stagger. The first place entered wins; the others are given up.
 *
 * @returns  the winner, if any, and the failed places in the order they failed
 * @throws   the error of `places`, unless a place was entered; `signal.reason` on abort
 */
export async function raceJoins(options: JoinRaceOptions): Promise<{ joined?: JoinedMailbox; attempts: FailedJoin[] }> {
  options.signal.throwIfAborted();
  const race = new JoinRace(options);
  await race.run();
  const { joined, attempts } = race;
  return joined ? { joined, attempts } : { attempts };
}

class JoinRace {
  readonly attempts: FailedJoin[] = [];
  joined: JoinedMailbox | undefined;
  readonly #options: JoinRaceOptions;
  readonly #running = new Map<AbortController, Promise<void>>();
  /** Aborted once the race is decided, by a winner or the caller. */
  readonly #search = new AbortController();

  constructor(options: JoinRaceOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal, places } = this.#options;
    const onAbort = () => this.#end(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      for await (const place of places(this.#search.signal)) {
        if (this.#search.signal.aborted) break;
        await headStart(this.#try(place));
      }
      if (!this.joined) await Promise.all(this.#running.values());
    } catch (reason) {
      if (!this.joined) throw reason;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#end(new KeibiError('CANCELLED', 'The search for the mailbox is over.'));
    }
    signal.throwIfAborted();
  }

  #try(place: Candidate): Promise<void> {
    const controller = new AbortController();
    const trying = this.#options.join(place, controller.signal).then(
      (pipe) => {
        this.#running.delete(controller);
        if (this.joined || controller.signal.aborted) return pipe.close();
        this.joined = { pipe, place };
        this.#end(new KeibiError('CANCELLED', 'Another place was quicker.'));
      },
      (reason) => {
        this.#running.delete(controller);
        if (!controller.signal.aborted)
          this.attempts.push({ place, error: KeibiError.from(reason, 'RENDEZVOUS_UNREACHABLE') });
      },
    );
    this.#running.set(controller, trying);
    return trying;
  }

  #end(reason: unknown): void {
    this.#search.abort(reason);
    for (const controller of this.#running.keys()) controller.abort(reason);
  }
}

/** Resolves when `trying` has ended, or after STAGGER_MS. */
async function headStart(trying: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STAGGER_MS);
  });
  await Promise.race([trying, late]);
  clearTimeout(timer);
}

/** Yields from all `sources` in the order of arrival, and ends when the last one ends. */
export async function* merged<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const next = async (iterator: AsyncIterator<T>) => ({ iterator, result: await iterator.next() });
  const pending = new Map(
    sources.map((source) => {
      const iterator = source[Symbol.asyncIterator]();
      return [iterator, next(iterator)];
    }),
  );
  try {
    while (pending.size > 0) {
      const { iterator, result } = await Promise.race(pending.values());
      if (result.done) pending.delete(iterator);
      else {
        pending.set(iterator, next(iterator));
        yield result.value;
      }
    }
  } finally {
    // A source that is still searching ends by its own signal; do not wait for it.
    for (const [iterator, promise] of pending) {
      promise.catch(() => {});
      void iterator.return?.().catch(() => {});
    }
  }
}
