// SPDX-License-Identifier: MPL-2.0
import { REKEY_BYTES } from '@keibidrop/protocol';
import { MAX_REKEYS, type OnRekey, rekey, type Session } from '@keibidrop/session';

/** KD_REKEY_BYTES makes rekeying more frequent, for tests; it cannot delay it. */
function rekeyBytes(): number {
  const asked = Number(process.env.KD_REKEY_BYTES);
  return asked > 0 ? Math.min(asked, REKEY_BYTES) : REKEY_BYTES;
}

/** Rekeys the lanes of a session each time they have carried REKEY_BYTES (PROTOCOL 4.3). The initiator's side. */
export class KeyRenewal {
  readonly #session: Session;
  readonly #onSecret: OnRekey;
  readonly #onReady: (number: number) => void;
  readonly #onFailed: (reason: unknown) => void;
  readonly #every = rekeyBytes();
  #rekeys = 0;
  #running = false;

  /**
   * @param onSecret  gives the secret to every lane's reader
   * @param onFailed  called when a rekey fails: the session must not continue under old keys
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
    if (this.#running || this.#rekeys === MAX_REKEYS || bytes < (this.#rekeys + 1) * this.#every) return;
    this.#running = true;
    rekey(this.#session.client, this.#rekeys + 1, this.#onSecret).then(() => {
      this.#rekeys++;
      this.#running = false;
      this.#onReady(this.#rekeys);
    }, this.#onFailed);
  }
}
