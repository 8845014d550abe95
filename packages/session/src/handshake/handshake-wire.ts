// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import {
  type Alert,
  decodeHandshakeMessage,
  encodeHandshakeMessage,
  HANDSHAKE_HEAD_BYTES,
  type HandshakeMessage,
  handshakeBodyBytes,
  isOtherVersion,
  KeibiError,
} from '@keibidrop/protocol';

/** Time limit for the peer's next message. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Time for which a refused connection is drained, so that a reset does not lose the alert. */
const LINGER_MS = 1_000;

export interface WireOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** Exchanges handshake messages over a byte stream. It never reads a byte beyond the last message. */
export class HandshakeWire {
  readonly #stream: Duplex;
  readonly #options: WireOptions;

  constructor(stream: Duplex, options: WireOptions) {
    this.#stream = stream;
    this.#options = options;
    // Failures surface at the next read. Until then an 'error' without a listener would end the process.
    stream.on('error', ignore);
  }

  send(...pieces: readonly Uint8Array[]): void {
    this.#stream.cork();
    for (const piece of pieces) this.#stream.write(piece);
    this.#stream.uncork();
  }

  /**
   * Reads the peer's next message, which must be of this kind. Also returns its raw bytes, length field included.
   *
   * @throws HANDSHAKE_MALFORMED, PEER_NEWER, PEER_OLDER, HANDSHAKE_TIMEOUT, SESSION_LOST; the error that the peer's alert names; the signal's
   * reason
   */
  async receive<K extends HandshakeMessage['kind']>(
    kind: K,
  ): Promise<{ message: Extract<HandshakeMessage, { kind: K }>; bytes: Uint8Array }> {
    const { signal, timeoutMs = HANDSHAKE_TIMEOUT_MS } = this.#options;
    const tooLate = new AbortController();
    const timer = setTimeout(() => tooLate.abort(new KeibiError('HANDSHAKE_TIMEOUT')), timeoutMs);
    const stop = AbortSignal.any([signal, tooLate.signal]);
    try {
      const head = await readExactly(this.#stream, HANDSHAKE_HEAD_BYTES, stop);
      const body = await readExactly(this.#stream, handshakeBodyBytes(head), stop);
      const bytes = new Uint8Array(head.length + body.length);
      bytes.set(head);
      bytes.set(body, head.length);
      const message = decodeHandshakeMessage(bytes);
      if (isKind(message, kind)) return { message, bytes };
      throw message.kind === 'alert' ? alertError(message.alert, true) : new KeibiError('HANDSHAKE_MALFORMED');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Releases the stream after a successful handshake. */
  release(): void {
    this.#stream.off('error', ignore);
  }

  /** Ends the stream after a failed handshake. Sends an alert when the peer may know the reason. */
  refuse(error: unknown): void {
    const stream = this.#stream;
    const alert = error instanceof KeibiError ? alertOf(error) : undefined;
    if (alert === undefined || stream.destroyed) {
      stream.destroy();
      return;
    }
    stream.end(encodeHandshakeMessage({ kind: 'alert', alert }));
    stream.resume();
    const timer = setTimeout(() => stream.destroy(), LINGER_MS);
    timer.unref();
    stream.once('close', () => clearTimeout(timer));
  }
}

/** Converts an alert, ours or the peer's, into its error. */
export function alertError(alert: Alert, remote = false): KeibiError {
  const detail = { alert, ...(remote && { remote }) };
  switch (alert) {
    case 'malformed':
    // An alert of our own version that does not know our version: altered on its way.
    case 'unknown-version':
      return new KeibiError('HANDSHAKE_MALFORMED', undefined, { detail });
    case 'unknown-attempt':
      return new KeibiError(
        'HANDSHAKE_MALFORMED',
        'The handshake belongs to no meeting that is open, so it was refused. Enter the code again.',
        { detail },
      );
    case 'no-common-suite':
      return new KeibiError('HANDSHAKE_NO_COMMON_SUITE', undefined, { detail });
    case 'confirmation-failed':
      return new KeibiError('HANDSHAKE_TAMPERED', undefined, { detail });
  }
}

function alertOf(error: KeibiError): Alert | undefined {
  if (error.detail?.remote === true) return undefined;
  if (isOtherVersion(error)) return 'unknown-version';
  if (error.detail?.alert !== undefined) return error.detail.alert as Alert;
  return error.code === 'HANDSHAKE_MALFORMED' ? 'malformed' : undefined;
}

/** Reads `length` bytes and leaves the rest in the stream. */
function readExactly(stream: Duplex, length: number, stop: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      for (const event of ['readable', 'end', 'error', 'close']) stream.off(event, tryRead);
      stop.removeEventListener('abort', abort);
      act();
    };
    const abort = () => settle(() => reject(stop.reason));
    const tryRead = () => {
      const piece: Uint8Array | null = stream.read(length);
      if (piece?.length === length) settle(() => resolve(piece));
      else if (piece !== null || stream.readableEnded || stream.destroyed) settle(() => reject(lost(stream)));
    };
    if (stop.aborted) return abort();
    stop.addEventListener('abort', abort, { once: true });
    for (const event of ['readable', 'end', 'error', 'close']) stream.on(event, tryRead);
    tryRead();
  });
}

function lost(stream: Duplex): KeibiError {
  return new KeibiError('SESSION_LOST', 'The peer closed the connection during the handshake. Try again.', {
    cause: stream.errored ?? undefined,
  });
}

function isKind<K extends HandshakeMessage['kind']>(
  message: HandshakeMessage,
  kind: K,
): message is Extract<HandshakeMessage, { kind: K }> {
  return message.kind === kind;
}

function ignore(): void {}
