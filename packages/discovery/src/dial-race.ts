// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import { formatHostPort } from './host-port.ts';
import type { Transport } from './transport.ts';

export interface DialRaceOptions {
  transports: readonly Transport[];
  /** Head start of each candidate before the next one; a failure starts the next at once. */
  staggerMs?: number;
  signal: AbortSignal;
}

/** One candidate that was tried in vain. */
export interface Attempt {
  readonly transport: string;
  readonly address: string;
  readonly error: KeibiError;
}

const STAGGER_MS = 250;

/**
 * Dials candidates in order, each a little after the one before it; the first connection wins and the others are closed.
 *
 * @returns  the connection, which is the caller's, and the candidate it leads to
 * @throws   PEER_UNREACHABLE with an `Attempt` for each candidate in `detail.attempts`; `signal.reason` on abort
 */
export async function dialRace(
  candidates: readonly Candidate[],
  options: DialRaceOptions,
): Promise<{ socket: Socket; candidate: Candidate }> {
  const { signal } = options;
  signal.throwIfAborted();
  const race = new Race(candidates, options);
  const onAbort = () => race.stop(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await race.winner;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

class Race {
  readonly winner: Promise<{ socket: Socket; candidate: Candidate }>;
  readonly #waiting: Candidate[];
  readonly #transports: readonly Transport[];
  readonly #staggerMs: number;
  readonly #attempts: Attempt[] = [];
  /** Aborted once the race is decided. */
  readonly #over = new AbortController();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #resolve: (winner: { socket: Socket; candidate: Candidate }) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(candidates: readonly Candidate[], { transports, staggerMs = STAGGER_MS }: DialRaceOptions) {
    this.#waiting = [...candidates];
    this.#transports = transports;
    this.#staggerMs = staggerMs;
    this.winner = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#next();
  }

  stop(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#over.abort(reason);
    this.#reject(reason);
  }

  #next(): void {
    clearTimeout(this.#timer);
    const candidate = this.#waiting.shift();
    if (candidate === undefined) {
      if (this.#running === 0) this.stop(unreachable(this.#attempts));
      return;
    }
    this.#running++;
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#next(), this.#staggerMs);
    dialOne(candidate, this.#transports, this.#over.signal).then(
      (socket) => this.#connected(socket, candidate),
      (error) => this.#failed(error, candidate),
    );
  }

  #connected(socket: Socket, candidate: Candidate): void {
    // Two can connect in one turn of the event loop.
    if (this.#over.signal.aborted) {
      socket.destroy();
      return;
    }
    this.#resolve({ socket, candidate });
    this.stop(new KeibiError('CANCELLED', 'Another candidate was quicker.'));
  }

  #failed(error: KeibiError, candidate: Candidate): void {
    this.#running--;
    if (this.#over.signal.aborted) return;
    this.#attempts.push({ transport: candidate.transport, address: formatHostPort(candidate), error });
    this.#next();
  }
}

async function dialOne(candidate: Candidate, transports: readonly Transport[], signal: AbortSignal): Promise<Socket> {
  const transport = transports.find(({ name }) => name === candidate.transport);
  if (transport === undefined) {
    throw new KeibiError('PEER_UNREACHABLE', `This version knows no transport "${candidate.transport}".`);
  }
  try {
    return await transport.dial(candidate, { signal });
  } catch (cause) {
    throw KeibiError.from(cause, 'PEER_UNREACHABLE');
  }
}

function unreachable(attempts: readonly Attempt[]): KeibiError {
  const tried = attempts.map(({ transport, address }) => `${address} (${transport})`).join(', ');
  const message = tried === '' ? 'The peer told no address to reach it at.' : `The peer cannot be reached at ${tried}.`;
  return new KeibiError(
    'PEER_UNREACHABLE',
    `${message} Check that both are on one network, or name it with --connect HOST:PORT.`,
    {
      detail: { attempts },
    },
  );
}
