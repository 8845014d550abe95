// SPDX-License-Identifier: MPL-2.0
import { assertInterface } from '@keibidrop/discovery';
import { RateBudget } from '@keibidrop/native';
import { RunTally } from '@keibidrop/transfer';
import type { ReceiveOptions, ReceiveResult } from '../api.ts';
import { ContactIntroduction } from '../contact-introduction.ts';
import { type FoundSender, findSender } from '../meeting/find-sender.ts';
import { holdingBy } from '../pause-switch.ts';
import { ReconnectCredentials } from '../reconnect/reconnect-credentials.ts';
import { type IncomingRun, IncomingSession, type ReceiveHooks } from './incoming-session.ts';
import { RememberedAnswers } from './remembered-answers.ts';
import { TransferClock } from './transfer-clock.ts';

/**
 * Receives the offer of a code once, over as many sessions as the network requires.
 *
 * @throws CONFIG_INVALID (the interface), RENDEZVOUS_*, PEER_*, CODE_*, HANDSHAKE_*, OFFER_DECLINED, SESSION_*, FRAME_*,
 * TRANSFER_*; `signal.reason` on abort
 */
export function receive(options: ReceiveOptions): Promise<ReceiveResult> {
  return receiveWith(options, {});
}

/** Like `receive`, with hooks. */
export async function receiveWith(options: ReceiveOptions, hooks: ReceiveHooks): Promise<ReceiveResult> {
  options.signal.throwIfAborted();
  assertInterface(options.reach.discovery);
  return new Receiving(options, hooks).run(await findSender(options));
}

/** One run: consecutive sessions with one sender. */
class Receiving {
  readonly #run: IncomingRun;
  readonly #way: ReconnectCredentials;

  constructor(options: ReceiveOptions, hooks: ReceiveHooks) {
    const clock = new TransferClock();
    const { confirm, resolveCollision } = options;
    const questions = new RememberedAnswers({
      confirm: confirm && clock.stoppedWhile(confirm),
      resolveCollision: resolveCollision && clock.stoppedWhile(resolveCollision),
    });
    const { confirm: asked, resolveCollision: resolved } = questions;
    this.#way = new ReconnectCredentials(options);
    this.#run = {
      options: { ...options, ...hooks, confirm: asked, resolveCollision: resolved },
      tally: new RunTally(),
      clock,
      budget: new RateBudget(options.limitBytesPerSecond ?? 0),
      saving: options.save && new ContactIntroduction(options.save, options.onEvent),
      onProven: () => this.#way.prove(),
    };
  }

  async run(met: FoundSender): Promise<ReceiveResult> {
    const { options, budget } = this.#run;
    const release = options.pausing?.drive(holdingBy(budget, options.onEvent));
    this.#way.begin(met);
    try {
      for (let { reached } = met; ; ) {
        const session = new IncomingSession(reached, this.#run, this.#way.known);
        try {
          return await session.run();
        } catch (reason) {
          reached = await this.#way.comeBack(reason, session.stuckBecause);
        }
      }
    } finally {
      release?.();
      this.#way.close();
    }
  }
}
