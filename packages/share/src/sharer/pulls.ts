// SPDX-License-Identifier: MPL-2.0
import type { RateBudget, Root } from '@keibidrop/native';
import { type ListeningPort, type PeerEvent, type Receiver, sendRoots } from '@keibidrop/peer';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import type { ShareEvent } from '../share-events.ts';
import type { ShareOptions } from './share-options.ts';

export interface PullsOptions
  extends Pick<ShareOptions, 'suite' | 'reach' | 'label' | 'listen' | 'onEvent' | 'signal'> {
  budget: RateBudget;
  port: ListeningPort;
}

/** Concurrent pulls of all guests, and of one. */
export const MOST_PULLS = 64;
const MOST_PULLS_OF_ONE = 8;
/** A guest comes soon after it has asked, or not at all. */
const COMING_MS = 60_000;
const NAMED_PATHS = 20;

/** The pulls of a share: each is an ordinary send to one receiver, with a 176-bit code, on the share's port. */
export class Pulls {
  readonly #options: PullsOptions;
  readonly #running = new Map<Promise<void>, Receiver>();
  #numbers = 0;

  constructor(options: PullsOptions) {
    this.#options = options;
  }

  /**
   * Offers roots to one guest; resolves with the code of the send.
   *
   * @param paths  the requested paths, for events
   * @throws       PEER_BUSY, RENDEZVOUS_*
   */
  begin(guest: Receiver, paths: readonly string[], roots: Root[]): Promise<Code> {
    const ofOne = [...this.#running.values()].filter(({ number }) => number === guest.number).length;
    if (this.#running.size >= MOST_PULLS || ofOne >= MOST_PULLS_OF_ONE) throw new KeibiError('PEER_BUSY');
    const pull = ++this.#numbers;
    return new Promise((resolve, reject) => {
      const running = this.#send({ pull, guest, paths, roots }, resolve)
        .catch(reject)
        .finally(() => this.#running.delete(running));
      this.#running.set(running, guest);
    });
  }

  /** Resolves when all pulls have ended; the caller aborts `signal` for that. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.keys());
  }

  async #send(
    { pull, guest, paths, roots }: { pull: number; guest: Receiver; paths: readonly string[]; roots: Root[] },
    onCode: (code: Code) => void,
  ): Promise<void> {
    const { suite, reach, label, listen, onEvent, budget, port } = this.#options;
    const { number: session, peer } = guest;
    const absent = new AbortController();
    const timer = setTimeout(() => absent.abort(new KeibiError('HANDSHAKE_TIMEOUT')), COMING_MS);
    const pulling: ShareEvent = {
      type: 'pull',
      pull,
      session,
      peer,
      paths: paths.slice(0, NAMED_PATHS),
      pathCount: paths.length,
    };
    let coming = false;
    const take = (event: PeerEvent): void => {
      if (event.type === 'code') onCode(parseCode(event.code));
      else if (event.type === 'connected') {
        clearTimeout(timer);
        if (!coming) onEvent(pulling);
        coming = true;
      } else if (event.type === 'progress') onEvent({ ...event, pull, session });
      else if (event.type === 'receiverDone') onEvent({ ...event, type: 'pulled', pull, session, peer });
      else if (event.type === 'warning') onEvent(event);
      // No one else has the code: if this guest cannot return, the pull is over.
      else if (event.type === 'receiverLost' && !event.mayReturn)
        absent.abort(new KeibiError(event.code, event.message));
    };
    const signal = AbortSignal.any([this.#options.signal, absent.signal]);
    const send = { suite, reach, label, listen, wordCount: 16, paths: [], receivers: 1, signal, onEvent: take };
    try {
      await sendRoots(send, roots, { port, budget, digits: 9 });
    } catch (reason) {
      const { code, message } = KeibiError.from(reason, 'INTERNAL');
      if (coming && !this.#options.signal.aborted) onEvent({ type: 'pullFailed', pull, session, peer, code, message });
      throw reason;
    } finally {
      clearTimeout(timer);
    }
  }
}
