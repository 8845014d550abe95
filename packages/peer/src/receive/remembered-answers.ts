// SPDX-License-Identifier: MPL-2.0
import type { CollisionAnswer, OfferAnswer, OfferSummary, ReceiveOptions } from '../api.ts';

type Questions = Pick<ReceiveOptions, 'confirm' | 'resolveCollision'>;

/**
 * Asks the user each question once per run, across all its sessions. A changed offer counts as a new question.
 *
 * A question that is open when its session is lost stays open: the next session waits for its answer.
 */
export class RememberedAnswers implements Questions {
  readonly confirm: Questions['confirm'];
  readonly resolveCollision: Questions['resolveCollision'];
  #offer: { key: string; answer: Promise<OfferAnswer> } | undefined;
  readonly #collisions = new Map<string, Promise<CollisionAnswer>>();

  constructor({ confirm, resolveCollision }: Questions) {
    this.confirm = confirm && ((offer) => this.#confirm(offer, confirm));
    this.resolveCollision = resolveCollision && ((path) => this.#resolve(path, resolveCollision));
  }

  #confirm(offer: OfferSummary, ask: NonNullable<Questions['confirm']>): Promise<OfferAnswer> {
    const { names, nameCount, peer, text, stream } = offer;
    const key = JSON.stringify([names, nameCount, peer, text, stream]);
    if (this.#offer?.key !== key) this.#offer = { key, answer: ask(offer) };
    return this.#offer.answer;
  }

  #resolve(path: string, ask: NonNullable<Questions['resolveCollision']>): Promise<CollisionAnswer> {
    const answer = this.#collisions.get(path) ?? ask(path);
    this.#collisions.set(path, answer);
    return answer;
  }
}
