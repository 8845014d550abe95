// SPDX-License-Identifier: MPL-2.0
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import type { ReturnSecret } from '@keibidrop/session';
import type { ReachedSender } from '../meeting/dial-sender.ts';
import { type FoundSender, type MeetOptions, meetAgain } from '../meeting/find-sender.ts';
import { isLoss } from '../session-end.ts';
import { PATIENCE_MS, reconnect } from './reconnect.ts';

const LOST = 'The connection was lost.';

/** The addresses and secrets that lead back to a peer, over all sessions with it. */
export class ReconnectCredentials {
  readonly #options: MeetOptions & { mayBeginAnew?: boolean };
  /** Every address that the peer has sent, the last successful one first. */
  #known: readonly Candidate[] = [];
  /** Newest first. Older ones stay until the peer is known to have the newest. */
  #secrets: ReturnSecret[] = [];

  /** @param options.mayBeginAnew  as in ReconnectOptions */
  constructor(options: MeetOptions & { mayBeginAnew?: boolean }) {
    this.#options = options;
  }

  get known(): readonly Candidate[] {
    return this.#known;
  }

  /** Called for the first session, or when the peer has started over and forgotten the earlier ones. */
  begin({ reached, announced }: FoundSender): void {
    this.#forget(0);
    this.#known = announced;
    this.#take(reached);
  }

  /** The peer has spoken under the newest session's keys, so it knows them. */
  prove(): void {
    this.#forget(1);
  }

  /**
   * Reconnects to the peer of a session that has ended.
   *
   * @param stuckBecause  why another session could not continue, if so: a sentence
   * @throws `reason` if reconnecting is pointless; SESSION_LOST
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

  /** Wipes all secrets. */
  close(): void {
    this.#forget(0);
  }

  #take({ keys, candidate }: ReachedSender): void {
    this.#secrets.unshift(keys.returning.copy());
    this.#known = [candidate, ...this.#known.filter((known) => known !== candidate)];
  }

  /** Keeps only that many of the newest secrets. */
  #forget(kept: number): void {
    for (const secret of this.#secrets.splice(kept)) secret.wipe();
  }
}
