// SPDX-License-Identifier: MPL-2.0

/** Remembered answers of one guest. */
const MOST = 1024;

/**
 * Makes repeated calls idempotent. After a lost session a guest repeats its unanswered calls, and "make" must not fail
 * because the first attempt succeeded.
 */
export class ReplyCache {
  readonly #answers = new Map<string, Promise<unknown>>();

  answer<T>(call: Uint8Array, work: () => Promise<T>): Promise<T> {
    const id = Buffer.from(call).toString('hex');
    const known = this.#answers.get(id);
    if (known !== undefined) return known as Promise<T>;
    const answer = work();
    answer.catch(() => {});
    this.#answers.set(id, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MOST) break;
      this.#answers.delete(oldest);
    }
    return answer;
  }
}
