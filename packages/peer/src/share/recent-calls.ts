// SPDX-License-Identifier: MPL-2.0

/** Calls of one guest whose answers are remembered. */
const MOST = 1024;

/**
 * Answers the same call once: a guest that has lost its session asks again for what it has not heard the answer of, and "make" must not fail because
 * it has been made.
 */
export class RecentCalls {
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
