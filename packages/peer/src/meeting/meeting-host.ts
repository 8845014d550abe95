// SPDX-License-Identifier: MPL-2.0
import {
  type Candidate,
  type Code,
  type Conversation,
  decodeMeetingMessage,
  isOtherVersion,
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
  refuseVersion,
} from '@keibidrop/session';
import { GuessLock } from './guess-lock.ts';

export interface MeetingHostOptions {
  code: Code;
  /** Candidates for a guest; called once per guest that has proved the code. */
  candidates(): readonly Candidate[];
  /** The candidates of a guest with the right code. */
  onGuest?(candidates: readonly Candidate[]): void;
  /** Whether one more receiver may come. */
  hasRoom(): boolean;
  /** The secret of a receiver whose session was lost, if it may return. */
  returnSecretOf(attempt: Uint8Array): ReturnSecret | undefined;
  onWrongCode(remaining: number): void;
  /** The last guess was wrong: the offer has to end. */
  onExhausted?(error: KeibiError): void;
  /** Instead of `onExhausted`: the code stays, and new guests are locked out for this time. */
  onLocked?(milliseconds: number): void;
  signal: AbortSignal;
}

/** The guest may dial each candidate, and the place where it met us. */
const MAX_HANDSHAKES_OF_ONE = MAX_CANDIDATES + 1;
/** Time limit from a guest's arrival to its right code, and from that to its handshake. */
const MEETING_TIMEOUT_MS = 30_000;

/**
 * The sending peer's side of the mailbox: admits guests that know the code, counts wrong guesses, and keeps the secrets for the
 * handshakes.
 */
export class MeetingHost {
  readonly #options: MeetingHostOptions;
  readonly #meetings = new Map<string, { meeting: Meeting; handshakes: number; timer: NodeJS.Timeout }>();
  readonly #lock = new GuessLock();
  #wrong = 0;
  /** The number of running conversations with guests. */
  #greeting = 0;
  #onSettled: () => void = () => {};

  constructor(options: MeetingHostOptions) {
    this.#options = options;
  }

  /** Greets guests until the mailbox closes. All mailboxes share one count of guesses. */
  async serve(owner: Owner): Promise<void> {
    for await (const conversation of owner) {
      this.#greeting++;
      void this.#greet(conversation)
        .catch((error) => (isOtherVersion(error) ? refuseVersion(conversation) : conversation.close()))
        .catch(() => {})
        .finally(() => {
          this.#greeting--;
          this.#look();
        });
    }
  }

  /** Resolves when no guest is in conversation or has a handshake pending, or on abort. */
  settled(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#look();
    });
  }

  /**
   * The secret of a meeting, for a handshake that may still fail. A guest tries several paths at once, and an eavesdropper's
   * attempt must not use up the meeting. Undefined if there is no such meeting, or after more handshakes than a guest has
   * paths.
   */
  authOf(attempt: Uint8Array): Uint8Array | undefined {
    const held = this.#meetings.get(Buffer.from(attempt).toString('hex'));
    if (held === undefined || ++held.handshakes > MAX_HANDSHAKES_OF_ONE) return undefined;
    return held.meeting.auth;
  }

  /** Ends a meeting with its first completed handshake. Afterwards the attempt is unknown. */
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
    // Received even before a refusal: a guest that has not sent yet would find the conversation closed before it reads the
    // reason.
    const first = await conversation.receive({ signal });
    const message = decodeMeetingMessage(first);
    if (message.kind === 'return') {
      const secret = returnSecretOf(message.attempt);
      if (secret === undefined) return refuseGuest(conversation, 'unknown-session');
      const again = await meetAgainAsOwner(conversation, secret, message);
      await this.#announce(conversation, again, signal);
      return again.wipe();
    }
    const refusal = () => this.#refusal();
    const refused = refusal() ?? (hasRoom() ? undefined : 'busy');
    if (refused !== undefined) return refuseGuest(conversation, refused);
    const onWrongGuess = () => this.#count();
    const meeting = await meetAsOwner(conversation, code, { signal, first, refusal, onWrongGuess });
    this.#keep(meeting);
    await this.#announce(conversation, meeting, signal);
  }

  async #announce(conversation: Conversation, meeting: Meeting, signal: AbortSignal): Promise<void> {
    const exchange = new CandidateExchange(conversation, meeting, 'owner');
    await exchange.send(this.#options.candidates());
    // The guest ends the conversation once it has our candidates.
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

  /** Why guesses are refused now; undefined if they are not. */
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
