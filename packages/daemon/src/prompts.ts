// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import type { EventStream } from './event-stream.ts';

/** A question for the user. */
export interface Asked {
  /** The transfer's number, or 0 for none. */
  transfer: number;
  /** The facts needed to answer. */
  about: NonNullable<local.Question['about']>;
  answers: readonly string[];
}

export interface GivenAnswer {
  answer: string;
  /** Applies to all similar questions. */
  always: boolean;
  /** For an offer or an invitation: the folder to receive into instead. */
  out?: string | undefined;
  /** For an invitation: as in ReceiveRequest. */
  beneath?: string | undefined;
  owner?: string | undefined;
}

interface Open {
  asked: Asked;
  resolve(given: GivenAnswer): void;
}

/** Pending questions, until any client answers them. */
export class Prompts {
  readonly #events: EventStream;
  readonly #open = new Map<number, Open>();
  #last = 0;

  constructor(events: EventStream) {
    this.#events = events;
  }

  /** @throws `signal.reason` when the answer is no longer needed */
  async ask(asked: Asked, { signal }: { signal: AbortSignal }): Promise<GivenAnswer> {
    signal.throwIfAborted();
    const question = ++this.#last;
    const { transfer, about } = asked;
    let onAbort = () => {};
    const answered = new Promise<GivenAnswer>((resolve, reject) => {
      onAbort = () => reject(signal.reason);
      this.#open.set(question, { asked, resolve });
    });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#events.emit(transfer, { happened: { $case: 'question', value: { question, transfer, about } } });
    let answer = '';
    try {
      const given = await answered;
      answer = given.answer;
      return given;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#open.delete(question);
      this.#events.emit(transfer, { happened: { $case: 'answered', value: { question, answer } } });
    }
  }

  /** @throws QUESTION_GONE; USAGE for an answer that the question does not offer */
  answer(question: number, given: GivenAnswer): void {
    const open = this.#open.get(question);
    if (open === undefined) throw new KeibiError('QUESTION_GONE');
    const { answers } = open.asked;
    if (!answers.includes(given.answer)) {
      throw new KeibiError('USAGE', `The answer must be ${answers.join(' or ')}.`);
    }
    this.#open.delete(question);
    open.resolve(given);
  }

  /** The pending questions, oldest first. */
  list(): local.Question[] {
    return [...this.#open].map(([question, { asked }]) => ({
      question,
      transfer: asked.transfer,
      about: asked.about,
    }));
  }
}
