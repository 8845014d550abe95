// SPDX-License-Identifier: MPL-2.0
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import type { GuestConversation } from './rendezvous-client.ts';

/** A mailbox that was found, and where. */
export interface JoinedMailbox {
  readonly pipe: GuestConversation;
  readonly place: Candidate;
}

/** A place where it is not. */
export interface FailedJoin {
  readonly place: Candidate;
  readonly error: KeibiError;
}

export interface JoinRaceOptions {
  /** Asked for the next place when those before it have failed, or after a while. `over` ends the search. */
  places(over: AbortSignal): AsyncIterable<Candidate>;
  /** `over` is aborted if another place is quicker, and not once this one has won. */
  join(place: Candidate, over: AbortSignal): Promise<GuestConversation>;
  signal: AbortSignal;
}

/** Head start of each place before the next one is asked for. */
const STAGGER_MS = 250;

/**
 * Enters the mailbox at each place as it is found, each a little after the one before it; the first that is entered wins, the others are left.
 *
 * @returns  with the places that failed, in the order they did
 * @throws   what `places` throws, unless a place was entered; `signal.reason` on abort
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

/** Resolves when `trying` has ended, or a little later at the latest. */
async function headStart(trying: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STAGGER_MS);
  });
  await Promise.race([trying, late]);
  clearTimeout(timer);
}

/** Yields what any of `sources` yields, as it comes, and ends with the last of them. */
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
    // A source that still looks ends with the signal it was given, and nobody waits for that.
    for (const [iterator, promise] of pending) {
      promise.catch(() => {});
      void iterator.return?.().catch(() => {});
    }
  }
}
