// SPDX-License-Identifier: MPL-2.0
import { type Api, ApiError } from '../../shared/api.ts';
import { applyEvent, type ReportedEvent, withoutStale } from '../../shared/apply-event.ts';
import { type DaemonState, NOTHING_REPORTED, wasStopped } from '../../shared/daemon-state.ts';
import { useDaemon } from './daemon-store.ts';
import { addSample, forgetSamples } from './throughput.ts';

/** Pause between attempts to reach a daemon that does not answer. */
const RETRY_MS = 1000;
/** Events are applied in batches: faster updates are unreadable. The larger the last batch, the longer the pause. */
const TOGETHER_MS = 200;
const MORE_MS = 40;
const LONGEST_MS = 1000;

/** Keeps the store up to date with the daemon while the page is open. */
export async function followDaemon(api: Api): Promise<never> {
  for (;;) {
    const error = await watchOnce(api);
    useDaemon.setState(({ link }) =>
      error.code === 'UNREACHABLE' && wasStopped(link) ? {} : { link: { state: 'lost', error } },
    );
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function watchOnce(api: Api): Promise<ApiError> {
  const over = new AbortController();
  const batch = new Batch();
  try {
    for await (const reported of api.stream('watch', { progress: true }, { signal: over.signal })) batch.add(reported);
    return new ApiError('DAEMON_LOST', 'The daemon has ended.');
  } catch (reason) {
    return reason instanceof ApiError ? reason : new ApiError('INTERNAL', String(reason));
  } finally {
    batch.end();
    over.abort();
  }
}

/** Events of one connection that the store has yet to receive. */
class Batch {
  /** The daemon first sends its whole state, which replaces the old one only once complete. */
  #first: DaemonState | undefined = NOTHING_REPORTED;
  #waiting: ReportedEvent[] = [];
  /** Number of events in the last batch, without superseded ones. */
  #changed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  add(reported: ReportedEvent): void {
    if (this.#first === undefined) {
      this.#waiting.push(reported);
      this.#timer ??= setTimeout(() => this.#apply(), Math.min(LONGEST_MS, TOGETHER_MS + MORE_MS * this.#changed));
      return;
    }
    this.#first = applyEvent(this.#first, reported);
    if (reported.happened?.$case !== 'present') return;
    useDaemon.setState(this.#first, true);
    this.#first = undefined;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#apply();
  }

  #apply(): void {
    this.#timer = undefined;
    const waiting = withoutStale(this.#waiting);
    this.#waiting = [];
    this.#changed = waiting.length;
    if (waiting.length === 0) return;
    useDaemon.setState((state) => waiting.reduce(applyEvent, state), true);
    sample(waiting, useDaemon.getState());
  }
}

/** Adds a chart point for each transfer in the batch. */
function sample(reported: readonly ReportedEvent[], { transfers }: DaemonState): void {
  const now = Date.now() / 1000;
  for (const id of new Set(reported.map(({ transfer }) => transfer))) {
    const transfer = transfers.get(id);
    if (transfer === undefined) forgetSamples(id);
    else if (transfer.state === 'running' || transfer.state === 'paused') addSample(id, now, transfer.bytesPerSecond);
  }
}
