// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import type { Incoming, Listener, Root } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { handshakeAsResponder, openSession, type PreparedHandshake, type Session } from '@keibidrop/session';
import { SendTransfer, type TransferOutcome } from '@keibidrop/transfer';
import type { SendOptions } from './api.ts';
import type { MeetingDesk } from './meeting-desk.ts';
import { pathTo, suiteOffer } from './suites.ts';
import { Throughput } from './throughput.ts';

export interface OutgoingSessionOptions {
  send: SendOptions;
  roots: Root[];
  listener: Listener;
  desk: MeetingDesk;
  prepared: Promise<PreparedHandshake>;
  signal: AbortSignal;
}

/** An abort ends the transfer, which then says goodbye; it does not cut the session. */
const NEVER = new AbortController().signal;

/** What became of one receiver's session. */
export interface SessionOutcome extends TransferOutcome {
  peer: string;
  /** From the session being up, or the receiver's yes if a person had to give it, to the receiver having everything. */
  seconds: number;
}

/** One receiver, from its control connection to its end. */
export class OutgoingSession {
  readonly #options: OutgoingSessionOptions;
  readonly #incoming: Incoming;
  /** Counts from 1 in the order of handshakes; 0 before. */
  number = 0;
  #started = 0;
  peer = '';

  constructor(options: OutgoingSessionOptions, incoming: Incoming) {
    this.#options = options;
    this.#incoming = incoming;
    this.peer = incoming.remoteAddress;
  }

  /**
   * Handshakes, serves, says goodbye.
   *
   * @param admit  called with the authenticated session before anything is offered; gives it its number, or throws to turn it away
   * @throws       HANDSHAKE_*, FRAME_*, SESSION_*, OFFER_DECLINED; `signal.reason` on abort
   */
  async run(admit: () => number): Promise<SessionOutcome> {
    const { send, roots, desk, listener, prepared } = this.#options;
    const socket = new Socket({ fd: this.#incoming.fd, readable: true, writable: true });
    socket.setNoDelay(true);
    // Handshake and session each learn of errors in their own way; between them nobody listens.
    socket.on('error', () => {});
    const keys = await this.#handshake(socket, desk, prepared);
    try {
      this.number = admit();
    } catch (reason) {
      keys.wipe();
      socket.destroy();
      throw reason;
    }
    this.#started = performance.now();
    const transfer = this.#transfer(send, roots, keys.suite);
    transfer.expectLanes(listener, keys);
    const refuse = (call: { destroy(error: Error): void }) => void call.destroy(new KeibiError('SESSION_CLOSED'));
    const peerService = { transfer: refuse, digests: transfer.digests };
    const session = openSession(socket, keys, 'responder', { peerService, signal: NEVER });
    keys.wipe();
    try {
      const outcome = await Promise.race([transfer.run(session.client), lost(session)]);
      const seconds = (performance.now() - this.#started) / 1000;
      await session.close();
      return { ...outcome, peer: this.peer, seconds };
    } catch (reason) {
      // The goodbye tells the peer why; what it finds out by itself (a dead connection) needs no words.
      await session.close(KeibiError.from(reason, 'CANCELLED'));
      throw reason;
    } finally {
      await transfer.close();
    }
  }

  async #handshake(socket: Socket, desk: MeetingDesk, prepared: Promise<PreparedHandshake>) {
    const { send, signal } = this.#options;
    let release = () => {};
    try {
      return await handshakeAsResponder(socket, {
        ...suiteOffer(send.suite),
        authOf: (attempt) => {
          const meeting = desk.take(attempt);
          release = () => meeting?.wipe();
          return meeting?.auth;
        },
        prepared,
        signal,
      });
    } finally {
      release();
    }
  }

  #transfer(send: SendOptions, roots: Root[], suite: SendOptions['suite'] & string): SendTransfer {
    const { onEvent } = send;
    const throughput = new Throughput();
    let total = { files: 0, bytes: 0 };
    let totalsFinal = false;
    let named = false;
    const offer = () => onEvent({ type: 'offer', directories: 0, symlinks: 0, ...total });
    return new SendTransfer({
      roots,
      text: send.text,
      label: send.label,
      limitBytesPerSecond: send.limitBytesPerSecond ?? 0,
      signal: this.#options.signal,
      onReceiver: (label) => {
        this.peer = label;
        named = true;
        const path = pathTo(this.#incoming.remoteAddress);
        onEvent({ type: 'connected', path, suite, peer: label, session: this.number });
        if (totalsFinal) offer();
        if (send.text === undefined) return;
        onEvent({ type: 'offer', files: 0, directories: 0, symlinks: 0, bytes: Buffer.byteLength(send.text) });
      },
      onAccepted: () => {
        this.#started = performance.now();
      },
      onOffer: (totals) => {
        total = totals;
        totalsFinal = true;
        // A small walk can end before the receiver has said its name.
        if (named) offer();
      },
      onProgress: ({ files, bytes }) => {
        const counts = { files, bytes, totalFiles: total.files, totalBytes: total.bytes, totalsFinal };
        onEvent({ type: 'progress', session: this.number, ...counts, bytesPerSecond: throughput.add(bytes) });
      },
      onFailed: (failed) => onEvent({ type: 'failed', session: this.number, ...failed }),
      onWarning: (path) => onEvent({ type: 'warning', message: 'left out: neither a file, a folder nor a symlink', path }),
    });
  }
}

/** Rejects when the session ends before the transfer does. */
async function lost(session: Session): Promise<never> {
  throw (await session.closed) ?? new KeibiError('SESSION_CLOSED');
}
