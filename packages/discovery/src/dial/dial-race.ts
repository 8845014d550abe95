// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { type Candidate, type ErrorCode, KeibiError } from '@keibidrop/protocol';
import { formatHostPort } from '../host-port.ts';
import type { Dialler } from '../transport.ts';

/** How a connection proves that the peer is at its other end. */
export interface ProofOptions {
  signal: AbortSignal;
  /** Call it after the peer's proof and before ours. Claims the race for this connection; throws if another has won. */
  win(): void;
}

export interface DialRaceOptions<T> {
  transports: readonly Dialler[];
  /** Checks that the peer is at the other end; its result becomes `RaceResult.proof`. @throws if it is not the peer */
  prove(socket: Socket, options: ProofOptions): Promise<T>;
  /** Head start of each candidate before the next one; a failure starts the next at once. */
  staggerMs?: number;
  /** How long relays wait for direct candidates, unless all of those have failed. */
  relayHeadStartMs?: number;
  /** Addresses that were not dialled, with the reason; listed with the failed ones. */
  passedOver?: readonly Attempt[];
  /** Advice to the user if nothing leads to the peer: one sentence. */
  advice?: string;
  signal: AbortSignal;
}

/** One candidate that failed. */
export interface Attempt {
  readonly transport: string;
  readonly address: string;
  readonly error: KeibiError;
}

/** Result of a race. The caller owns `socket`; `attempts` are the candidates that failed or lost. */
export interface RaceResult<T> {
  readonly socket: Socket;
  readonly candidate: Candidate;
  readonly proof: T;
  readonly attempts: readonly Attempt[];
}

/** RFC 8305 5 sets 100 ms as the minimum: a machine may have many addresses, and few are reachable from afar. */
const STAGGER_MS = 100;
/** Three round trips on a long link: TCP, the handshake, and one retransmission. */
const RELAY_HEAD_START_MS = 1000;
/** Errors that only the peer causes: they say more than a failed dial. */
const OF_THE_PEER: readonly ErrorCode[] = [
  'PEER_NEWER',
  'PEER_OLDER',
  'HANDSHAKE_NO_COMMON_SUITE',
  'HANDSHAKE_TAMPERED',
];
const ADVICE =
  'Check that both are on one network, or name it with --connect HOST:PORT. A firewall may be in the way: keibidrop help firewalls.';

/**
 * Dials the candidates in order with a stagger, relays last. The first connection on which the peer proves itself wins; the others are closed.
 *
 * @throws  PEER_UNREACHABLE with an `Attempt` for each candidate in `detail.attempts`; the error of the only candidate, if it
 *          could be dialled; an error of OF_THE_PEER; `signal.reason` on abort
 */
export async function dialRace<T>(
  candidates: readonly Candidate[],
  options: DialRaceOptions<T>,
): Promise<RaceResult<T>> {
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

class Race<T> {
  readonly winner: Promise<RaceResult<T>>;
  readonly #options: DialRaceOptions<T>;
  readonly #attempts: Attempt[];
  /** Candidates being dialled or proved, with the time each began. */
  readonly #running = new Map<Candidate, number>();
  /** Aborted once the race is decided. */
  readonly #over = new AbortController();
  #waiting: Candidate[];
  #claimant: Candidate | undefined;
  #relayTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #resolve: (winner: RaceResult<T>) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(candidates: readonly Candidate[], options: DialRaceOptions<T>) {
    this.#options = options;
    this.#attempts = [...(options.passedOver ?? [])];
    this.#waiting = [...candidates.filter((each) => !isRelay(each)), ...candidates.filter(isRelay)];
    this.winner = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { relayHeadStartMs = RELAY_HEAD_START_MS } = options;
    if (this.#waiting.some(isRelay)) this.#relayTimer = setTimeout(() => this.#bringRelaysForward(), relayHeadStartMs);
    this.#next();
  }

  stop(reason: unknown): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#relayTimer);
    this.#over.abort(reason);
    this.#reject(reason);
  }

  #bringRelaysForward(): void {
    this.#relayTimer = undefined;
    this.#waiting = [...this.#waiting.filter(isRelay), ...this.#waiting.filter((each) => !isRelay(each))];
    this.#next();
  }

  #next(): void {
    clearTimeout(this.#timer);
    const [candidate] = this.#waiting;
    if (candidate === undefined) {
      if (this.#running.size === 0) this.stop(this.#failure());
      return;
    }
    if (isRelay(candidate) && this.#relayTimer !== undefined && this.#running.size > 0) return;
    this.#waiting.shift();
    this.#running.set(candidate, performance.now());
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#next(), this.#options.staggerMs ?? STAGGER_MS);
    this.#try(candidate).then(
      ({ socket, proof }) => this.#won(candidate, socket, proof),
      (reason) => this.#failed(candidate, KeibiError.from(reason, 'PEER_UNREACHABLE')),
    );
  }

  async #try(candidate: Candidate): Promise<{ socket: Socket; proof: T }> {
    const { signal } = this.#over;
    const transport = this.#options.transports.find(({ name }) => name === candidate.transport);
    if (transport === undefined) {
      throw new KeibiError('PEER_UNREACHABLE', `This version does not support the transport "${candidate.transport}".`);
    }
    const socket = await transport.dial(candidate, { signal });
    // The next owner of the socket adds its own listener; until then an error shows as a failed proof.
    socket.on('error', () => {});
    try {
      signal.throwIfAborted();
      return { socket, proof: await this.#options.prove(socket, { signal, win: () => this.#claim(candidate) }) };
    } catch (reason) {
      // A failed proof may still have to send the other side the reason.
      if (signal.aborted) socket.destroy();
      throw reason;
    }
  }

  #claim(candidate: Candidate): void {
    this.#over.signal.throwIfAborted();
    if (this.#claimant !== undefined) throw new KeibiError('CANCELLED', 'Another candidate was quicker.');
    this.#claimant = candidate;
  }

  #won(candidate: Candidate, socket: Socket, proof: T): void {
    if (this.#over.signal.aborted) {
      socket.destroy();
      return;
    }
    this.#running.delete(candidate);
    const slower = [...this.#running].map(([other, since]) => attemptOf(other, tooSlow(since)));
    this.#resolve({ socket, candidate, proof, attempts: [...this.#attempts, ...slower] });
    this.stop(new KeibiError('CANCELLED', 'Another candidate was quicker.'));
  }

  #failed(candidate: Candidate, error: KeibiError): void {
    this.#running.delete(candidate);
    if (this.#over.signal.aborted) return;
    this.#attempts.push(attemptOf(candidate, error));
    if (candidate === this.#claimant) this.stop(error);
    else this.#next();
  }

  #failure(): KeibiError {
    const attempts = this.#attempts;
    const answered = attempts.map(({ error }) => error).filter(({ code }) => code !== 'PEER_UNREACHABLE');
    const telling = answered.find(({ code }) => OF_THE_PEER.includes(code));
    const dialled = attempts.length - (this.#options.passedOver?.length ?? 0);
    const only = dialled === 1 ? answered[0] : undefined;
    return telling ?? only ?? unreachable(attempts, this.#options.advice ?? ADVICE);
  }
}

function isRelay({ transport }: Candidate): boolean {
  return transport === 'relay';
}

function attemptOf(candidate: Candidate, error: KeibiError): Attempt {
  return { transport: candidate.transport, address: formatHostPort(candidate), error };
}

function tooSlow(since: number): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', `No answer within ${Math.round(performance.now() - since)} ms.`);
}

function unreachable(attempts: readonly Attempt[], advice: string): KeibiError {
  const tried = attempts.map(({ transport, address }) => `${address} (${transport})`).join(', ');
  const message = tried === '' ? 'The peer has sent no address to dial.' : `The peer cannot be reached at ${tried}.`;
  return new KeibiError('PEER_UNREACHABLE', `${message} ${advice}`, { detail: { attempts } });
}
