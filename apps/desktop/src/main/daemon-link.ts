// SPDX-License-Identifier: MPL-2.0
import { EventEmitter } from 'node:events';
import { ApiError } from '../shared/api.ts';
import { applyEvent, type Told } from '../shared/apply-event.ts';
import { type DaemonState, NOTHING_TOLD, wasStopped } from '../shared/daemon-state.ts';
import { DaemonDoor, type DoorAddress } from './daemon-door.ts';

/** Pauses between tries to start a daemon, in milliseconds; the last one goes on. */
const RETRY_MS = [0, 500, 2000, 5000, 15_000];

interface Events {
  /** Something has happened; `state` is what there is after it, `before` what there was. */
  told: [told: Told, before: DaemonState];
  /** `state` is another, `link` in it perhaps. */
  change: [];
}

/**
 * This window's daemon: found, started where none runs, watched, and started again when it is lost; one that somebody has stopped only when
 * somebody wants that.
 *
 * It knows what the daemon has told (`state`), and gives the door for calls.
 */
export class DaemonLink {
  readonly #openDoor: (signal: AbortSignal) => Promise<DoorAddress>;
  readonly #events = new EventEmitter();
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;
  #state: DaemonState = NOTHING_TOLD;
  #door: DaemonDoor | undefined;
  #restart = () => {};

  /** @param openDoor  the address of the daemon's HTTP door; starts it where none runs */
  constructor(openDoor: (signal: AbortSignal) => Promise<DoorAddress>) {
    this.#openDoor = openDoor;
    this.#events.setMaxListeners(0);
  }

  /** What the daemon has told. While it is lost: as it was. */
  get state(): DaemonState {
    return this.#state;
  }

  on<E extends keyof Events>(event: E, listener: (...args: Events[E]) => void): void {
    this.#events.on(event, listener as (...args: unknown[]) => void);
  }

  /** Begins to look for the daemon. Idempotent. */
  open(): void {
    this.#running ??= this.#run();
  }

  /** Starts a daemon that was stopped. */
  restart(): void {
    this.#restart();
  }

  /** Lets go of the daemon, which goes on. */
  async close(): Promise<void> {
    this.#over.abort(new ApiError('CANCELLED', 'The window closes.'));
    await this.#running;
  }

  /**
   * The door, once there is one.
   *
   * @throws ApiError of the next try that fails, so that nobody waits for a daemon that cannot be started, or was stopped
   */
  async door(): Promise<DaemonDoor> {
    for (;;) {
      if (this.#door !== undefined) return this.#door;
      const stopped = this.#state.link;
      if (stopped.state === 'lost' && wasStopped(stopped)) throw stopped.error;
      await new Promise<void>((resolve) => this.#events.once('change', resolve));
      const { link } = this.#state;
      if (link.state === 'lost' && this.#door === undefined) throw link.error;
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

  /** Watches a daemon until it is lost. @returns  why */
  async #follow(onLive: () => void): Promise<ApiError> {
    const { signal } = this.#over;
    // What there is replaces what there was once all of it has been told.
    let present: DaemonState | undefined = NOTHING_TOLD;
    const take = (told: Told) => {
      if (present === undefined) {
        const before = this.#state;
        this.#state = applyEvent(before, told);
        this.#events.emit('told', told, before);
        return;
      }
      present = applyEvent(present, told);
      if (told.event !== 'present') return;
      this.#state = present;
      present = undefined;
      onLive();
    };
    try {
      const door = new DaemonDoor(await this.#openDoor(signal));
      this.#door = door;
      this.#events.emit('change');
      const onReplies = (replies: { transfer: number; json: string }[]) => {
        for (const { transfer, json } of replies) take({ ...(JSON.parse(json) as { event: string }), transfer });
        if (present === undefined) this.#events.emit('change');
      };
      await door.stream('watch', { progress: true }, { signal, onReplies });
      return new ApiError('DAEMON_LOST', 'The daemon has ended.');
    } catch (reason) {
      return reason instanceof ApiError ? reason : new ApiError('INTERNAL', String(reason));
    } finally {
      this.#door?.close();
      this.#door = undefined;
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
