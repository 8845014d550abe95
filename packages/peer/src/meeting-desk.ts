// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '@keibidrop/discovery';
import { type Candidate, type Code, KeibiError, MAX_WRONG_GUESSES } from '@keibidrop/protocol';
import type { Conversation, Owner } from '@keibidrop/server';
import { CandidateExchange, type Meeting, meetAsOwner, refuseGuest } from '@keibidrop/session';

export interface MeetingDeskOptions {
  code: Code;
  /** Where guests who know the code may dial. */
  candidates: readonly (HostPort & Pick<Candidate, 'transport'>)[];
  /** Whether one more receiver may come. */
  hasRoom(): boolean;
  onWrongCode(remaining: number): void;
  /** The last guess was wrong: the offer has to end. */
  onExhausted(error: KeibiError): void;
  signal: AbortSignal;
}

/** From a guest's arrival to its right code, and from that to its handshake. */
const MEETING_TIMEOUT_MS = 30_000;

/** The sending peer's side of the mailbox: lets in who knows the code, counts who does not, and keeps what the handshake needs. */
export class MeetingDesk {
  readonly #options: MeetingDeskOptions;
  readonly #meetings = new Map<string, { meeting: Meeting; timer: NodeJS.Timeout }>();
  #wrong = 0;

  constructor(options: MeetingDeskOptions) {
    this.#options = options;
  }

  /** Greets guests until the mailbox closes. */
  async serve(owner: Owner): Promise<void> {
    for await (const conversation of owner) void this.#greet(conversation).catch(() => conversation.close());
  }

  /** The secret of a meeting, once: who shows an attempt again is unknown. */
  take(attempt: Uint8Array): Meeting | undefined {
    const key = Buffer.from(attempt).toString('hex');
    const held = this.#meetings.get(key);
    clearTimeout(held?.timer);
    this.#meetings.delete(key);
    return held?.meeting;
  }

  /** Forgets every meeting. */
  close(): void {
    for (const { meeting, timer } of this.#meetings.values()) {
      clearTimeout(timer);
      meeting.wipe();
    }
    this.#meetings.clear();
  }

  async #greet(conversation: Conversation): Promise<void> {
    const { code, hasRoom } = this.#options;
    const signal = AbortSignal.any([this.#options.signal, AbortSignal.timeout(MEETING_TIMEOUT_MS)]);
    const mayGuess = () => this.#wrong < MAX_WRONG_GUESSES;
    const refusal = !mayGuess() ? 'code-exhausted' : hasRoom() ? undefined : 'busy';
    if (refusal !== undefined) {
      // A guest that has not spoken yet would find the conversation gone before it can hear why.
      await conversation.receive({ signal });
      return refuseGuest(conversation, refusal);
    }
    const onWrongGuess = () => this.#count();
    const meeting = await meetAsOwner(conversation, code, { signal, mayGuess, onWrongGuess });
    this.#keep(meeting);
    const exchange = new CandidateExchange(conversation, meeting, 'owner');
    await exchange.send(this.#options.candidates);
    // The guest ends the conversation when it has what it needs.
    await exchange.receive({ signal }).catch(() => {});
    exchange.close();
  }

  #keep(meeting: Meeting): void {
    const key = Buffer.from(meeting.attempt).toString('hex');
    const timer = setTimeout(() => this.take(meeting.attempt)?.wipe(), MEETING_TIMEOUT_MS).unref();
    this.#meetings.set(key, { meeting, timer });
  }

  #count(): void {
    this.#wrong++;
    if (this.#wrong < MAX_WRONG_GUESSES) this.#options.onWrongCode(MAX_WRONG_GUESSES - this.#wrong);
    else this.#options.onExhausted(new KeibiError('CODE_EXHAUSTED'));
  }
}
