// SPDX-License-Identifier: MPL-2.0
import { EventEmitter } from 'node:events';
import { ApiError } from '../../shared/api.ts';
import { applyEvent, type ReportedEvent } from '../../shared/apply-event.ts';
import { type DaemonState, NOTHING_REPORTED, wasStopped } from '../../shared/daemon-state.ts';
import { type DaemonAddress, DaemonHttpClient } from './daemon-http-client.ts';

/** Pauses between attempts to start the daemon, in milliseconds; the last one repeats. */
const RETRY_MS = [0, 500, 2000, 5000, 15_000];

interface Events {
  /** An event of the daemon has arrived; `state` already includes it, `before` does not. */
  reported: [reported: ReportedEvent, before: DaemonState];
  /** `state` has changed, perhaps also its `link`. */
  change: [];
}

/**
 * Finds this window's daemon or starts it, watches it, and restarts it after a crash. A daemon that the user has stopped
 * stays stopped until the user wants it again.
 *
 * Holds the daemon's state and hands out the connection for calls.
 */
export class DaemonLink {
  readonly #findAddress: (signal: AbortSignal) => Promise<DaemonAddress>;
  readonly #events = new EventEmitter();
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;
  #state: DaemonState = NOTHING_REPORTED;
  #client: DaemonHttpClient | undefined;
  #restart = () => {};

  /** @param findAddress  returns the address of the daemon's HTTP port; starts a daemon if none runs */
  constructor(findAddress: (signal: AbortSignal) => Promise<DaemonAddress>) {
    this.#findAddress = findAddress;
    this.#events.setMaxListeners(0);
  }

  /** The last known state of the daemon, also while the daemon is lost. */
  get state(): DaemonState {
    return this.#state;
  }

  on<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): void {
    this.#events.on(event, listener as (...args: unknown[]) => void);
  }

  /** Starts to look for the daemon. Idempotent. */
  open(): void {
    this.#running ??= this.#run();
  }

  /** Starts a daemon that the user had stopped. */
  restart(): void {
    this.#restart();
  }

  /** Disconnects from the daemon, which keeps running. */
  async close(): Promise<void> {
    this.#over.abort(new ApiError('CANCELLED', 'The window is closing.'));
    await this.#running;
  }

  /**
   * The connection for calls; waits until there is one.
   *
   * @throws ApiError if the daemon was stopped or the next attempt fails, so that no caller waits for a daemon that cannot start
   */
  async client(): Promise<DaemonHttpClient> {
    for (;;) {
      if (this.#client !== undefined) return this.#client;
      const stopped = this.#state.link;
      if (stopped.state === 'lost' && wasStopped(stopped)) throw stopped.error;
      await new Promise<void>((resolve) => this.#events.once('change', resolve));
      const { link } = this.#state;
      if (link.state === 'lost' && this.#client === undefined) throw link.error;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    let failures = 0;
    while (!signal.aborted) {
      const error = await this.#follow(() => {
        failures = 0;
      });
      if (signal.aborted) return;
      this.#change({ ...this.#state, link: { state: 'lost', error } });
      if (wasStopped(this.#state.link)) {
        await this.#untilWanted();
        failures = 0;
        this.#change({ ...this.#state, link: { state: 'connecting' } });
        continue;
      }
      await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 0, signal);
    }
  }

  #untilWanted(): Promise<void> {
    return new Promise((resolve) => {
      this.#restart = resolve;
      this.#over.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Watches a daemon until it is lost. @returns  the reason */
  async #follow(onLive: () => void): Promise<ApiError> {
    const { signal } = this.#over;
    // Collects the initial events; replaces the old state only once the daemon has sent them all.
    let present: DaemonState | undefined = NOTHING_REPORTED;
    const take = (reported: ReportedEvent) => {
      if (present === undefined) {
        const before = this.#state;
        this.#state = applyEvent(before, reported);
        this.#events.emit('reported', reported, before);
        return;
      }
      present = applyEvent(present, reported);
      if (reported.happened?.$case !== 'present') return;
      this.#state = present;
      present = undefined;
      onLive();
    };
    try {
      const client = new DaemonHttpClient(await this.#findAddress(signal));
      this.#client = client;
      this.#events.emit('change');
      const onReplies = (replies: ReportedEvent[]) => {
        for (const reported of replies) take(reported);
        if (present === undefined) this.#events.emit('change');
      };
      await client.stream('watch', { progress: true }, { signal, onReplies });
      return new ApiError('DAEMON_LOST', 'The daemon has ended.');
    } catch (reason) {
      return reason instanceof ApiError ? reason : new ApiError('INTERNAL', String(reason));
    } finally {
      this.#client?.close();
      this.#client = undefined;
    }
  }

  #change(state: DaemonState): void {
    this.#state = state;
    this.#events.emit('change');
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
