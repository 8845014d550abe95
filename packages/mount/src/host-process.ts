// SPDX-License-Identifier: MPL-2.0
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { cutMessages, decodeFromHost, type FromHost } from '@keibidrop/proto/mount-host';
import { KeibiError } from '@keibidrop/protocol';

/** The host's descriptor of its end of the socket pair; the next one is the cache's directory. */
const LINK = 3;
/** How often to check for a host that was killed and cannot end. */
const CHECK_MS = 500;
/** The part of the host's stderr that is kept for error messages. */
const MOST_STDERR = 2000;

/**
 * A running mount host; `closed` resolves when it has ended. It ends by itself when our end of the socket pair closes,
 * so also when this process ends.
 */
export class HostProcess {
  /** Resolves with its exit code, or the signal that has killed it. */
  readonly closed: Promise<number | string>;
  /** It was killed and does not end: a thread of it waits for the kernel (`abortMount`). */
  onStuck: () => void = () => {};
  readonly #child: ChildProcess;
  readonly #link: Socket;
  #stderr = '';
  #unsent: Uint8Array[] = [];

  /** @param cache  a descriptor, which the host gets a copy of */
  constructor(program: string, words: readonly string[], cache: number) {
    // A session of its own: Ctrl-C in our terminal is for us, and so is what kills a group of processes.
    this.#child = spawn(program, words, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', cache],
      detached: true,
      cwd: '/',
    });
    // Node makes a pair of connected sockets of a `pipe`, not a pipe.
    this.#link = this.#child.stdio[LINK] as Socket;
    this.#link.on('error', () => {});
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#stderr = (this.#stderr + text.toString()).slice(-MOST_STDERR);
    });
    this.closed = new Promise((resolve) => {
      this.#child.once('error', (reason) => resolve(reason.message));
      this.#child.once('exit', (code, signal) => resolve(code ?? signal ?? ''));
    });
    const watching = setInterval(() => void this.#checkStuck(), CHECK_MS).unref();
    void this.closed.then(() => {
      clearInterval(watching);
      this.#link.destroy();
    });
  }

  /**
   * The first thread of an ended process becomes a zombie; Node reports the exit only after the last thread has ended.
   */
  async #checkStuck(): Promise<void> {
    const stat = await readFile(`/proc/${this.#child.pid}/stat`, 'latin1').catch(() => '');
    const isZombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
    if (isZombie && this.#child.exitCode === null && this.#child.signalCode === null) this.onStuck();
  }

  /** The host's stderr. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The host's messages until it closes its end. @throws INTERNAL */
  async *messages(): AsyncGenerator<FromHost> {
    const cut = cutMessages(decodeFromHost);
    try {
      for await (const bytes of this.#link as AsyncIterable<Buffer>) yield* cut(bytes);
    } catch (reason) {
      if (reason instanceof RangeError)
        throw new KeibiError('INTERNAL', 'The mount host has violated its protocol.', { cause: reason });
      // A link that breaks has ended.
    }
  }

  /**
   * Sends at the end of this turn of the event loop, together with other messages. After the host's end it does
   * nothing.
   */
  queue(message: Uint8Array): void {
    if (this.#unsent.length === 0) process.nextTick(() => this.#flush());
    this.#unsent.push(message);
  }

  /** Sends; resolves when there is room for more. */
  async send(message: Uint8Array, { signal }: { signal: AbortSignal }): Promise<void> {
    this.#unsent.push(message);
    if (!this.#flush()) await once(this.#link, 'drain', { signal }).catch(() => {});
  }

  /** Whether there is room for more. */
  #flush(): boolean {
    const messages = this.#unsent;
    this.#unsent = [];
    return messages.length === 0 || !this.#link.writable || this.#link.write(Buffer.concat(messages));
  }

  /** Closes the link, so that the host unmounts and ends. */
  close(): void {
    this.#link.destroy();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
