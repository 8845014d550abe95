// SPDX-License-Identifier: MPL-2.0
import type { RateBudget, Root } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { openSession, punchResponder, RekeyResponder, refuseCall } from '@keibidrop/session';
import { SendTransfer, type TransferOutcome } from '@keibidrop/transfer';
import type { SendOptions } from '../api.ts';
import type { ContactIntroduction } from '../contact-introduction.ts';
import type { PeerEvent } from '../events.ts';
import { heartbeatTimes } from '../heartbeat-times.ts';
import { type Admission, admit, type IncomingPeer, pathOfIncoming } from '../meeting/incoming-peer.ts';
import type { ListeningPort } from '../meeting/listening-port.ts';
import { type Receiver, type Receivers, replaced, type ServingSession } from '../meeting/receivers.ts';
import { awaitRelayedLanes } from '../meeting/relayed-lanes.ts';
import { watchOwnEnd } from '../reconnect/address-watch.ts';
import { causeOf, lost } from '../session-end.ts';
import { betterPathOf } from '../suites.ts';
import { Throughput } from '../throughput.ts';

export interface OutgoingSessionOptions {
  send: SendOptions;
  roots: Root[];
  /** The rate limit that all receivers' sessions share. */
  budget: RateBudget;
  port: Pick<ListeningPort, 'listener' | 'reach'>;
  receivers: Receivers;
  saving: ContactIntroduction | undefined;
  signal: AbortSignal;
}

const LEFT_NETWORK = 'This computer has left the network.';

/** The result of one receiver's session. */
export interface SessionOutcome extends TransferOutcome {
  peer: string;
  /** From the start of the session, or from the user's acceptance if one was needed, until the receiver has everything. */
  seconds: number;
}

/** One session with a receiver, from its control connection to its end. */
export class OutgoingSession implements ServingSession {
  readonly #options: OutgoingSessionOptions;
  readonly #peer: IncomingPeer;
  /** Cuts the session without a goodbye. */
  readonly #cut = new AbortController();
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #receiver: Receiver | undefined;

  constructor(options: OutgoingSessionOptions, peer: IncomingPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Undefined until the receiver is identified. */
  get receiver(): Receiver | undefined {
    return this.#receiver;
  }

  replace(): Promise<void> {
    this.#cut.abort(replaced());
    return this.#ended;
  }

  /**
   * Serves the receiver and says goodbye.
   *
   * @param admission  called before anything is offered
   * @throws HANDSHAKE_MALFORMED, FRAME_*, SESSION_*, OFFER_DECLINED; `signal.reason` on abort
   */
  async run(admission: Admission): Promise<SessionOutcome> {
    try {
      return await this.#serve(admission);
    } finally {
      this.#end();
    }
  }

  async #serve(admission: Admission): Promise<SessionOutcome> {
    const { send, roots, port, saving } = this.#options;
    const { socket, keys } = this.#peer;
    const receiver = await admit(this.#peer, admission, this.#cut.signal);
    this.#receiver = receiver;
    const transfer = this.#transfer(send, roots, keys.suite, receiver);
    transfer.expectLanes(port.listener, keys);
    const stopRelaying = awaitRelayedLanes(this.#peer, port);
    const { rekey, rekeyReady } = new RekeyResponder((number, secret) => transfer.rekey(number, secret));
    const peerService = {
      transfer: refuseCall,
      digests: transfer.digests,
      rekey,
      rekeyReady,
      punch: punchResponder((place) => port.reach.holes.open(place)),
    };
    // An abort ends the transfer, which then says goodbye; it does not cut the session.
    const session = openSession(socket, keys, 'responder', {
      peerService,
      heartbeat: heartbeatTimes(),
      signal: this.#cut.signal,
    });
    keys.wipe();
    const unlisten = send.pausing?.onChange((paused) => transfer.notifyPaused(paused));
    const unwatch = watchOwnEnd(socket, () => this.#cut.abort(new KeibiError('SESSION_LOST', LEFT_NETWORK)));
    try {
      await saving?.introduce(session);
      const outcome = await Promise.race([transfer.run(session.client), lost(session)]);
      const seconds = (performance.now() - receiver.startedAt) / 1000;
      await session.close();
      return { ...outcome, peer: receiver.peer, seconds };
    } catch (symptom) {
      const reason = await causeOf(symptom, session);
      // The goodbye states the reason. A dead connection needs none, because the peer notices it.
      await session.close(KeibiError.from(reason, 'CANCELLED'));
      throw reason;
    } finally {
      unwatch();
      unlisten?.();
      stopRelaying();
      await transfer.close();
    }
  }

  #transfer(send: SendOptions, roots: Root[], suite: SendOptions['suite'] & string, receiver: Receiver): SendTransfer {
    const { number: session } = receiver;
    const throughput = new Throughput();
    let total = { files: 0, bytes: 0 };
    let totalsFinal = false;
    let moved = false;
    // A small walk can end before the receiver has sent its name; `connected` must still be the first event of a session.
    const early: PeerEvent[] = [];
    let named = false;
    const onEvent = (event: PeerEvent) => (named ? send.onEvent(event) : void early.push(event));
    const offer = (counts: { files: number; bytes: number; leftOut?: number }) =>
      onEvent({ type: 'offer', directories: 0, symlinks: 0, ...counts });
    const transfer: SendTransfer = new SendTransfer({
      roots,
      text: send.text,
      selection: send.selection,
      label: send.label,
      budget: this.#options.budget,
      entries: send.entriesOf?.(session),
      signal: this.#options.signal,
      onReceiver: (label) => {
        receiver.peer = label;
        this.#options.receivers.prove(receiver);
        named = true;
        const path = pathOfIncoming(this.#peer.incoming, this.#options.port.reach, send.reach);
        onEvent({ type: 'connected', path, suite, peer: label, session });
        this.#options.saving?.connected();
        for (const event of early.splice(0)) onEvent(event);
        if (send.pausing?.paused) transfer.notifyPaused(true);
        if (send.text !== undefined) offer({ files: 0, bytes: Buffer.byteLength(send.text) });
      },
      onAccepted: () => {
        // The user accepts only once; the time counts from then on, across lost sessions.
        if (!receiver.accepted) Object.assign(receiver, { accepted: true, startedAt: performance.now() });
        onEvent({ type: 'accepted', session });
      },
      onOffer: ({ leftOut, ...totals }) => {
        total = totals;
        totalsFinal = true;
        offer({ ...totals, ...(send.selection !== undefined && { leftOut }) });
      },
      onProgress: ({ files, bytes, file }) => {
        const counts = { files, bytes, totalFiles: total.files, totalBytes: total.bytes };
        const more = { totalsFinal: totalsFinal && !send.stdin, ...(file !== undefined && { file }) };
        onEvent({ type: 'progress', session, ...counts, ...more, bytesPerSecond: throughput.add(bytes) });
      },
      onPath: (reported) => {
        const path = betterPathOf(reported);
        if (path === undefined || moved || !this.#peer.incoming.relayed) return;
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
