// SPDX-License-Identifier: MPL-2.0
import { Metadata } from '@grpc/grpc-js';
import type { PeerClient } from '@keibidrop/proto';

export interface HeartbeatOptions {
  client: PeerClient;
  /** Time from one beat to the next, and how long a beat may take. */
  intervalMs: number;
  timeoutMs: number;
  /** Beats missed in a row after which the peer counts as lost. */
  misses: number;
  /** Called once, after the last of `misses` beats; no beat follows. */
  onLost(): void;
}

/**
 * Asks the peer for a sign of life at every interval. The timers keep no process alive.
 * @returns  stops the beats; `onLost` is not called afterwards
 */
export function startHeartbeat({ client, intervalMs, timeoutMs, misses, onLost }: HeartbeatOptions): () => void {
  let missed = 0;
  let sequence = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function schedule(delayMs: number): void {
    timer = setTimeout(beat, delayMs).unref();
  }
  function beat(): void {
    const began = performance.now();
    const expected = sequence++;
    client.heartbeat({ sequence: expected }, new Metadata(), { deadline: Date.now() + timeoutMs }, (error, reply) => {
      if (stopped) return;
      missed = error === null && reply.sequence === expected ? 0 : missed + 1;
      if (missed < misses) {
        // A beat that was waited for in vain has used up the time to the next.
        schedule(Math.max(0, intervalMs - (performance.now() - began)));
      } else {
        stopped = true;
        onLost();
      }
    });
  }
  function stop(): void {
    stopped = true;
    clearTimeout(timer);
  }

  schedule(intervalMs);
  return stop;
}
