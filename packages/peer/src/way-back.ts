// SPDX-License-Identifier: MPL-2.0
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import type { ReturnSecret } from '@keibidrop/session';
import type { ReachedSender } from './dial-sender.ts';
import { type MeetOptions, type MetSender, meetAgain } from './meet-sender.ts';
import { PATIENCE_MS, reconnect } from './reconnect.ts';
import { isLoss } from './session-end.ts';

const LOST = 'The connection was lost.';

/** What leads back to a peer that was reached by a code, over all sessions with it. */
export class WayBack {
  readonly #options: MeetOptions & { mayBeginAnew?: boolean };
  /** Every address that the peer has told, the one where it was reached last in front. */
  #known: readonly Candidate[] = [];
  /** The newest first; those before it until the peer is known to have it too. */
  #secrets: ReturnSecret[] = [];

  /** @param options.mayBeginAnew  as ReconnectOptions has it */
  constructor(options: MeetOptions & { mayBeginAnew?: boolean }) {
    this.#options = options;
  }

  get known(): readonly Candidate[] {
    return this.#known;
  }

  /** The first session is up; or the peer has begun anew, and knows nothing of those before. */
  begin({ reached, told }: MetSender): void {
    this.#forget(0);
    this.#known = told;
    this.#take(reached);
  }

  /** The peer has spoken under the newest session's keys, so it knows them. */
  prove(): void {
    this.#forget(1);
  }

  /**
   * Comes back to the peer of a session that has ended.
   *
   * @param stuckBecause  why another session could not go on, if so: a sentence
   * @throws              `reason` if there is no coming back from it; SESSION_LOST
   */
  async comeBack(reason: unknown, stuckBecause?: string): Promise<ReachedSender> {
    const { signal, patienceMs = PATIENCE_MS, connect, mayBeginAnew = false } = this.#options;
    signal.throwIfAborted();
    if (patienceMs === 0 || !isLoss(reason)) throw reason;
    if (stuckBecause !== undefined) throw new KeibiError('SESSION_LOST', `${LOST} ${stuckBecause}`, { cause: reason });
    const lookAgain = async (secret: ReturnSecret, over: AbortSignal) => {
      const found = await meetAgain(this.#options, secret, over);
      this.#known = [...this.#known.slice(0, 1), ...found.candidates];
      return found;
    };
    const lost = { reason, known: this.#known, secrets: this.#secrets };
    const reached = await reconnect(lost, {
      receive: this.#options,
      mayBeginAnew,
      lookAgain: connect === undefined ? lookAgain : undefined,
    });
    this.#take(reached);
    return reached;
  }

  /** Wipes what it has. */
  close(): void {
    this.#forget(0);
  }

  #take({ keys, candidate }: ReachedSender): void {
    this.#secrets.unshift(keys.returning.copy());
    this.#known = [candidate, ...this.#known.filter((known) => known !== candidate)];
  }

  /** Keeps the newest of the secrets, so many of them. */
  #forget(kept: number): void {
    for (const secret of this.#secrets.splice(kept)) secret.wipe();
  }
}
