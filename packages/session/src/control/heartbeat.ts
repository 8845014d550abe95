// SPDX-License-Identifier: MPL-2.0
import { Metadata } from '@grpc/grpc-js';
import type { PeerClient } from '@keibidrop/proto';

export interface HeartbeatOptions {
  client: PeerClient;
  /** Time between beats, and the time limit of one beat. */
  intervalMs: number;
  timeoutMs: number;
  /** Number of consecutive missed beats after which the peer counts as lost. */
  misses: number;
  /** Called once, after the last of `misses` beats. No beat follows. */
  onLost(): void;
}

/**
 * Sends the peer a heartbeat at every interval. The timers do not keep the process alive.
 * @returns  a function that stops the beats; `onLost` is not called afterwards
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
        // The wait for a missed beat counts towards the interval.
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
