// SPDX-License-Identifier: MPL-2.0
import { FOLD_BYTES } from '@keibidrop/protocol';
import { fold, MAX_REKEYS, type OnRekey, type Session } from '@keibidrop/session';

/** KD_FOLD_BYTES makes folds more frequent, for tests; it cannot delay them. */
function foldBytes(): number {
  const asked = Number(process.env.KD_FOLD_BYTES);
  return asked > 0 ? Math.min(asked, FOLD_BYTES) : FOLD_BYTES;
}

/** Folds fresh keys into a session's lanes each time they have carried FOLD_BYTES (PROTOCOL 4.3). The initiator's side. */
export class KeyRenewal {
  readonly #session: Session;
  readonly #onSecret: OnRekey;
  readonly #onReady: (number: number) => void;
  readonly #onFailed: (reason: unknown) => void;
  readonly #every = foldBytes();
  #folds = 0;
  #running = false;

  /**
   * @param onSecret  gives the secret to every lane's reader
   * @param onFailed  called when a fold fails: the session must not continue under old keys
   * @param onReady  called when the other side's readers have the secret too: writers may move
   */
  constructor(
    session: Session,
    onSecret: OnRekey,
    onFailed: (reason: unknown) => void,
    onReady: (number: number) => void = () => {},
  ) {
    this.#onReady = onReady;
    this.#session = session;
    this.#onSecret = onSecret;
    this.#onFailed = onFailed;
  }

  /** @param bytes  carried by the lanes since the session began */
  onBytes(bytes: number): void {
    if (this.#running || this.#folds === MAX_REKEYS || bytes < (this.#folds + 1) * this.#every) return;
    this.#running = true;
    fold(this.#session.client, this.#folds + 1, this.#onSecret).then(() => {
      this.#folds++;
      this.#running = false;
      this.#onReady(this.#folds);
    }, this.#onFailed);
  }
}
