// SPDX-License-Identifier: MPL-2.0
import type { PauseSwitch } from '@keibidrop/peer';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from './io.ts';
import type { Keyboard } from './keyboard.ts';

const KEY = 'p';

/** The key that pauses and resumes a transfer. */
export class PauseKey {
  /** Undefined without a terminal. */
  readonly pausing: PauseSwitch | undefined;
  readonly #keyboard: Keyboard | undefined;

  /** @param options.json, options.stdin  no key is read: a program reads the output, or standard input is sent */
  constructor(io: Io, peer: Pick<PeerPackage, 'PauseSwitch'>, options: { json?: boolean; stdin?: boolean }) {
    if (options.json || options.stdin) return;
    const pausing = new peer.PauseSwitch();
    this.#keyboard = io.keyboard((key) => {
      if (key !== KEY) return;
      if (pausing.paused) pausing.resume();
      else pausing.pause();
    });
    if (this.#keyboard !== undefined) this.pausing = pausing;
  }

  /** Asks a question that needs a whole line. */
  during<T>(question: () => Promise<T>): Promise<T> {
    return this.#keyboard === undefined ? question() : this.#keyboard.during(question);
  }

  /** Restores the terminal. Idempotent. */
  close(): void {
    this.#keyboard?.close();
  }
}
