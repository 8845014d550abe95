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
  punchResponder,
  type ReturnSecret,
  relayLaneTokens,
} from '@keibidrop/session';
import { SendTransfer, type TransferOutcome } from '@keibidrop/transfer';
import { watchOwnEnd } from './address-watch.ts';
import type { SendOptions } from './api.ts';
import type { PathName, PeerEvent } from './events.ts';
import { heartbeatTimes } from './heartbeat-times.ts';
import type { MeetingDesk } from './meeting-desk.ts';
import { type Receiver, type Receivers, replaced, type ServingSession } from './receivers.ts';
import type { SenderReach } from './sender-reach.ts';
import { causeOf, lost } from './session-end.ts';
import { betterPathOf, pathTo, suiteOffer } from './suites.ts';
import { Throughput } from './throughput.ts';

export interface OutgoingSessionOptions {
  send: SendOptions;
  roots: Root[];
  /** What all receivers' sessions may send together. */
  budget: RateBudget;
  listener: Listener;
  reach: SenderReach;
  desk: MeetingDesk;
  receivers: Receivers;
  prepared: Promise<PreparedHandshake>;
  signal: AbortSignal;
}

const LEFT_NETWORK = 'This computer has left the network.';

/** What became of one receiver's session. */
export interface SessionOutcome extends TransferOutcome {
  peer: string;
  /** From the session being up, or the receiver's yes if a person had to give it, to the receiver having everything. */
  seconds: number;
}

/** How a session comes in. */
export interface Admission {
  /** A receiver with the code. */
  take(returning: ReturnSecret): Receiver;
  /** One whose session was lost; undefined if that is forgotten. */
  takeBack(attempt: Uint8Array, returning: ReturnSecret): Promise<Receiver | undefined>;
}

/** One session with a receiver, from its control connection to its end. */
export class OutgoingSession implements ServingSession {
  readonly #options: OutgoingSessionOptions;
  readonly #incoming: Incoming;
  /** Cuts the session without a goodbye. */
  readonly #cut = new AbortController();
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #receiver: Receiver | undefined;

  constructor(options: OutgoingSessionOptions, incoming: Incoming) {
    this.#options = options;
    this.#incoming = incoming;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Undefined until it is known who it is. */
  get receiver(): Receiver | undefined {
    return this.#receiver;
  }

  replace(): Promise<void> {
    this.#cut.abort(replaced());
    return this.#ended;
  }

  /**
   * Handshakes, serves, says goodbye.
   *
   * @param admission  asked with the authenticated session before anything is offered; throws to turn it away
   * @throws       HANDSHAKE_*, FRAME_*, SESSION_*, OFFER_DECLINED; `signal.reason` on abort
   */
  async run(admission: Admission): Promise<SessionOutcome> {
    try {
      return await this.#serve(admission);
    } finally {
      this.#end();
    }
  }

  async #serve(admission: Admission): Promise<SessionOutcome> {
    const { send, roots, listener, reach } = this.#options;
    const socket = new Socket({ fd: this.#incoming.fd, readable: true, writable: true });
    socket.setNoDelay(true);
    // Handshake and session each learn of errors in their own way; between them nobody listens.
    socket.on('error', () => {});
    const keys = await this.#handshake(socket);
    const receiver = await this.#admitted(keys, socket, admission);
    this.#receiver = receiver;
    const transfer = this.#transfer(send, roots, keys.suite, receiver);
    transfer.expectLanes(listener, keys);
    const stopRelaying = this.#incoming.relayed ? this.#relayLanes(keys) : () => {};
    const refuse = (call: { destroy(error: Error): void }) => void call.destroy(new KeibiError('SESSION_CLOSED'));
    const { fold, foldReady } = new FoldResponder((number, secret) => transfer.fold(number, secret));
    const peerService = {
      transfer: refuse,
      digests: transfer.digests,
      fold,
      foldReady,
      punch: punchResponder((place) => reach.holes.open(place)),
    };
    // An abort ends the transfer, which then says goodbye; it does not cut the session.
    const session = openSession(socket, keys, 'responder', {
      peerService,
      heartbeat: heartbeatTimes(),
      signal: this.#cut.signal,
    });
    keys.wipe();
    const untell = send.pausing?.onChange((paused) => transfer.tellPaused(paused));
    const unwatch = watchOwnEnd(socket, () => this.#cut.abort(new KeibiError('SESSION_LOST', LEFT_NETWORK)));
    try {
      const outcome = await Promise.race([transfer.run(session.client), lost(session)]);
      const seconds = (performance.now() - receiver.startedAt) / 1000;
      await session.close();
      return { ...outcome, peer: receiver.peer, seconds };
    } catch (symptom) {
      const reason = await causeOf(symptom, session);
      // The goodbye tells the peer why; what it finds out by itself (a dead connection) needs no words.
      await session.close(KeibiError.from(reason, 'CANCELLED'));
      throw reason;
    } finally {
      unwatch();
      untell?.();
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

  #handshake(socket: Socket): Promise<Keys & { readonly attempt: Uint8Array }> {
    const { send, desk, receivers, prepared, signal } = this.#options;
    const authOf = (attempt: Uint8Array) => desk.authOf(attempt) ?? receivers.secretOf(attempt)?.auth;
    return handshakeAsResponder(socket, { ...suiteOffer(send.suite), authOf, prepared, signal });
  }

  /** Who has come: by the code, or back. A meeting is used up by that, a return not before its receiver has been heard. */
  async #admitted(
    keys: Keys & { readonly attempt: Uint8Array },
    socket: Socket,
    { take, takeBack }: Admission,
  ): Promise<Receiver> {
    try {
      const meeting = this.#options.desk.take(keys.attempt);
      meeting?.wipe();
      const receiver = meeting === undefined ? await takeBack(keys.attempt, keys.returning) : take(keys.returning);
      if (receiver === undefined) {
        throw new KeibiError('HANDSHAKE_MALFORMED', 'A second handshake of one meeting was refused.');
      }
      this.#cut.signal.throwIfAborted();
      receiver.peer ||= this.#incoming.remoteAddress;
      return receiver;
    } catch (reason) {
      keys.wipe();
      socket.destroy();
      throw reason;
    }
  }

  #path(): PathName {
    const { relayed, remoteAddress, remotePort } = this.#incoming;
    const punched = this.#options.reach.holes.has({ host: remoteAddress, port: remotePort });
    if (relayed || punched) return relayed ? 'relay' : 'punched';
    const path = pathTo(remoteAddress, { lan: this.#options.send.reach.discovery !== 'off' });
    return path === 'direct' && this.#options.reach.isMapped(remoteAddress) ? 'mapped' : path;
  }

  #transfer(send: SendOptions, roots: Root[], suite: SendOptions['suite'] & string, receiver: Receiver): SendTransfer {
    const { number: session } = receiver;
    const throughput = new Throughput();
    let total = { files: 0, bytes: 0 };
    let totalsFinal = false;
    let moved = false;
    // A small walk can end before the receiver has said its name: `connected` is still the first event of a session.
    const early: PeerEvent[] = [];
    let named = false;
    const onEvent = (event: PeerEvent) => (named ? send.onEvent(event) : void early.push(event));
    const offer = (counts: { files: number; bytes: number }) =>
      onEvent({ type: 'offer', directories: 0, symlinks: 0, ...counts });
    const transfer: SendTransfer = new SendTransfer({
      roots,
      text: send.text,
      label: send.label,
      budget: this.#options.budget,
      signal: this.#options.signal,
      onReceiver: (label) => {
        receiver.peer = label;
        this.#options.receivers.prove(receiver);
        named = true;
        const path = this.#path();
        onEvent({ type: 'connected', path, suite, peer: label, session });
        for (const event of early.splice(0)) onEvent(event);
        if (send.pausing?.paused) transfer.tellPaused(true);
        if (send.text !== undefined) offer({ files: 0, bytes: Buffer.byteLength(send.text) });
      },
      onAccepted: () => {
        // A person has said yes once; what follows counts, whatever the network does meanwhile.
        if (!receiver.accepted) Object.assign(receiver, { accepted: true, startedAt: performance.now() });
      },
      onOffer: (totals) => {
        total = totals;
        totalsFinal = true;
        offer(totals);
      },
      onProgress: ({ files, bytes }) => {
        const counts = { files, bytes, totalFiles: total.files, totalBytes: total.bytes, totalsFinal };
        onEvent({ type: 'progress', session, ...counts, bytesPerSecond: throughput.add(bytes) });
      },
      onPath: (told) => {
        const path = betterPathOf(told);
        if (path === undefined || moved || !this.#incoming.relayed) return;
        moved = true;
        onEvent({ type: 'connected', path, suite, peer: receiver.peer, session });
      },
      onPause: (paused) => onEvent({ type: 'paused', paused, by: 'peer', session }),
      onFailed: (failed) => onEvent({ type: 'failed', session, ...failed }),
      onWarning: (path) =>
        onEvent({ type: 'warning', message: 'left out: neither a file, a folder nor a symlink', path }),
    });
    return transfer;
  }
}
