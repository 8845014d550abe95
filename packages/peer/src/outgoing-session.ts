// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import type { Incoming, Listener, RateBudget, Root } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import {
  FoldResponder,
  handshakeAsResponder,
  type Keys,
  openSession,
  type PreparedHandshake,
  relayLaneTokens,
} from '@keibidrop/session';
import { SendTransfer, type TransferOutcome } from '@keibidrop/transfer';
import type { SendOptions } from './api.ts';
import type { PathName, PeerEvent } from './events.ts';
import type { MeetingDesk } from './meeting-desk.ts';
import type { SenderReach } from './sender-reach.ts';
import { causeOf, lost } from './session-end.ts';
import { pathTo, suiteOffer } from './suites.ts';
import { Throughput } from './throughput.ts';

export interface OutgoingSessionOptions {
  send: SendOptions;
  roots: Root[];
  /** What all receivers' sessions may send together. */
  budget: RateBudget;
  listener: Listener;
  reach: SenderReach;
  desk: MeetingDesk;
  prepared: Promise<PreparedHandshake>;
  signal: AbortSignal;
}

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
    const stopRelaying = this.#incoming.relayed ? this.#relayLanes(keys) : () => {};
    const refuse = (call: { destroy(error: Error): void }) => void call.destroy(new KeibiError('SESSION_CLOSED'));
    const { fold, foldReady } = new FoldResponder((number, secret) => transfer.fold(number, secret));
    const peerService = { transfer: refuse, digests: transfer.digests, fold, foldReady };
    // An abort ends the transfer, which then says goodbye; it does not cut the session.
    const { signal: never } = new AbortController();
    const session = openSession(socket, keys, 'responder', { peerService, signal: never });
    keys.wipe();
    try {
      const outcome = await Promise.race([transfer.run(session.client), lost(session)]);
      const seconds = (performance.now() - this.#started) / 1000;
      await session.close();
      return { ...outcome, peer: this.peer, seconds };
    } catch (symptom) {
      const reason = await causeOf(symptom, session);
      // The goodbye tells the peer why; what it finds out by itself (a dead connection) needs no words.
      await session.close(KeibiError.from(reason, 'CANCELLED'));
      throw reason;
    } finally {
      stopRelaying();
      await transfer.close();
    }
  }

  /** The receiver came through a relay, so its lanes do too. Returns what ends the waiting for them. */
  #relayLanes({ laneSecret }: Keys): () => void {
    const over = new AbortController();
    const { remoteAddress: host, remotePort: port } = this.#incoming;
    void relayLaneTokens(laneSecret).then((tokens) =>
      this.#options.reach.joinLanes({ host, port }, tokens, over.signal),
    );
    return () => over.abort();
  }

  async #handshake(socket: Socket, desk: MeetingDesk, prepared: Promise<PreparedHandshake>) {
    const { send, signal } = this.#options;
    const authOf = (attempt: Uint8Array) => desk.authOf(attempt);
    const keys = await handshakeAsResponder(socket, { ...suiteOffer(send.suite), authOf, prepared, signal });
    const meeting = desk.take(keys.attempt);
    meeting?.wipe();
    if (meeting !== undefined) return keys;
    keys.wipe();
    socket.destroy();
    throw new KeibiError('HANDSHAKE_MALFORMED', 'A second handshake of one meeting was refused.');
  }

  #path(): PathName {
    const { relayed, remoteAddress } = this.#incoming;
    return relayed ? 'relay' : pathTo(remoteAddress, { lan: this.#options.send.reach.discovery !== 'off' });
  }

  #transfer(send: SendOptions, roots: Root[], suite: SendOptions['suite'] & string): SendTransfer {
    const throughput = new Throughput();
    let total = { files: 0, bytes: 0 };
    let totalsFinal = false;
    // A small walk can end before the receiver has said its name: `connected` is still the first event of a session.
    const early: PeerEvent[] = [];
    let named = false;
    const onEvent = (event: PeerEvent) => (named ? send.onEvent(event) : void early.push(event));
    const offer = (counts: { files: number; bytes: number }) =>
      onEvent({ type: 'offer', directories: 0, symlinks: 0, ...counts });
    return new SendTransfer({
      roots,
      text: send.text,
      label: send.label,
      budget: this.#options.budget,
      signal: this.#options.signal,
      onReceiver: (label) => {
        this.peer = label;
        named = true;
        const path = this.#path();
        onEvent({ type: 'connected', path, suite, peer: label, session: this.number });
        for (const event of early.splice(0)) onEvent(event);
        if (send.text !== undefined) offer({ files: 0, bytes: Buffer.byteLength(send.text) });
      },
      onAccepted: () => {
        this.#started = performance.now();
      },
      onOffer: (totals) => {
        total = totals;
        totalsFinal = true;
        offer(totals);
      },
      onProgress: ({ files, bytes }) => {
        const counts = { files, bytes, totalFiles: total.files, totalBytes: total.bytes, totalsFinal };
        onEvent({ type: 'progress', session: this.number, ...counts, bytesPerSecond: throughput.add(bytes) });
      },
      onFailed: (failed) => onEvent({ type: 'failed', session: this.number, ...failed }),
      onWarning: (path) =>
        onEvent({ type: 'warning', message: 'left out: neither a file, a folder nor a symlink', path }),
    });
  }
}
