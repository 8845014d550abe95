// SPDX-License-Identifier: MPL-2.0
import {
  type Candidate,
  type Code,
  type Conversation,
  decodeMeetingMessage,
  KeibiError,
  MAX_CANDIDATES,
  MAX_WRONG_GUESSES,
  type Owner,
  type Refusal,
} from '@keibidrop/protocol';
import {
  CandidateExchange,
  type Meeting,
  meetAgainAsOwner,
  meetAsOwner,
  type ReturnSecret,
  refuseGuest,
} from '@keibidrop/session';
import { GuessLock } from './guess-lock.ts';

export interface MeetingDeskOptions {
  code: Code;
  /** Where a guest may dial: asked once for each that has shown that it knows the code. */
  candidates(): readonly Candidate[];
  /** Where a guest with the right code may be dialled, if it says so. */
  onGuest?(candidates: readonly Candidate[]): void;
  /** Whether one more receiver may come. */
  hasRoom(): boolean;
  /** Of a receiver whose session was lost, if it may come back. */
  returnSecretOf(attempt: Uint8Array): ReturnSecret | undefined;
  onWrongCode(remaining: number): void;
  /** The last guess was wrong: the offer has to end. */
  onExhausted?(error: KeibiError): void;
  /** Instead: the code stays, and no new guest is let in for so long. */
  onLocked?(milliseconds: number): void;
  signal: AbortSignal;
}

/** The guest may dial each candidate, and the place where it met us. */
const MAX_HANDSHAKES_OF_ONE = MAX_CANDIDATES + 1;
/** From a guest's arrival to its right code, and from that to its handshake. */
const MEETING_TIMEOUT_MS = 30_000;

/** The sending peer's side of the mailbox: lets in who knows the code, counts who does not, and keeps what the handshake needs. */
export class MeetingDesk {
  readonly #options: MeetingDeskOptions;
  readonly #meetings = new Map<string, { meeting: Meeting; handshakes: number; timer: NodeJS.Timeout }>();
  readonly #lock = new GuessLock();
  #wrong = 0;
  /** Guests that are being talked to. */
  #greeting = 0;
  #onSettled: () => void = () => {};

  constructor(options: MeetingDeskOptions) {
    this.#options = options;
  }

  /** Greets guests until the mailbox closes. Of several mailboxes all guests count together. */
  async serve(owner: Owner): Promise<void> {
    for await (const conversation of owner) {
      this.#greeting++;
      void this.#greet(conversation)
        .catch(() => conversation.close())
        .finally(() => {
          this.#greeting--;
          this.#look();
        });
    }
  }

  /** Resolves when no guest is being talked to or has yet to shake hands, or on abort. */
  settled(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#look();
    });
  }

  /**
   * The secret of a meeting, for a handshake that may yet fail: a guest tries several ways at once, and an attempt that somebody has
   * overheard must not use the meeting up. Undefined if there is none, or one way more than a guest could be told has been tried.
   */
  authOf(attempt: Uint8Array): Uint8Array | undefined {
    const held = this.#meetings.get(Buffer.from(attempt).toString('hex'));
    if (held === undefined || ++held.handshakes > MAX_HANDSHAKES_OF_ONE) return undefined;
    return held.meeting.auth;
  }

  /** Ends a meeting with the handshake that has come to its end, which the first does: then nobody knows the attempt any more. */
  take(attempt: Uint8Array): Meeting | undefined {
    const key = Buffer.from(attempt).toString('hex');
    const held = this.#meetings.get(key);
    clearTimeout(held?.timer);
    this.#meetings.delete(key);
    this.#look();
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
    const { code, hasRoom, returnSecretOf } = this.#options;
    const signal = AbortSignal.any([this.#options.signal, AbortSignal.timeout(MEETING_TIMEOUT_MS)]);
    // Also before a refusal: a guest that has not spoken yet would find the conversation gone before it can hear why.
    const first = await conversation.receive({ signal });
    const message = decodeMeetingMessage(first);
    if (message.kind === 'return') {
      const secret = returnSecretOf(message.attempt);
      if (secret === undefined) return refuseGuest(conversation, 'unknown-session');
      const again = await meetAgainAsOwner(conversation, secret, message);
      await this.#tell(conversation, again, signal);
      return again.wipe();
    }
    const refusal = () => this.#refusal();
    const refused = refusal() ?? (hasRoom() ? undefined : 'busy');
    if (refused !== undefined) return refuseGuest(conversation, refused);
    const onWrongGuess = () => this.#count();
    const meeting = await meetAsOwner(conversation, code, { signal, first, refusal, onWrongGuess });
    this.#keep(meeting);
    await this.#tell(conversation, meeting, signal);
  }

  async #tell(conversation: Conversation, meeting: Meeting, signal: AbortSignal): Promise<void> {
    const exchange = new CandidateExchange(conversation, meeting, 'owner');
    await exchange.send(this.#options.candidates());
    // The guest ends the conversation when it has what it needs.
    await exchange.receive({ signal }).then(this.#options.onGuest, () => {});
    exchange.close();
  }

  #keep(meeting: Meeting): void {
    const key = Buffer.from(meeting.attempt).toString('hex');
    const timer = setTimeout(() => this.take(meeting.attempt)?.wipe(), MEETING_TIMEOUT_MS).unref();
    this.#meetings.set(key, { meeting, handshakes: 0, timer });
  }

  #look(): void {
    if (this.#greeting === 0 && this.#meetings.size === 0) this.#onSettled();
  }

  /** Why no guess is judged now. */
  #refusal(): Refusal | undefined {
    if (this.#options.onLocked !== undefined) return this.#lock.isLocked ? 'locked' : undefined;
    return this.#wrong < MAX_WRONG_GUESSES ? undefined : 'code-exhausted';
  }

  #count(): void {
    this.#wrong++;
    const { onWrongCode, onLocked, onExhausted } = this.#options;
    const lockedMs = this.#lock.wrong();
    if (this.#wrong < MAX_WRONG_GUESSES) onWrongCode(MAX_WRONG_GUESSES - this.#wrong);
    else if (onLocked !== undefined) onLocked(lockedMs);
    else onExhausted?.(new KeibiError('CODE_EXHAUSTED'));
  }
}
