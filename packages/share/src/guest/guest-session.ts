// SPDX-License-Identifier: MPL-2.0
import { type ClientUnaryCall, credentials, type ServiceError } from '@grpc/grpc-js';
import type { LaneKeys } from '@keibidrop/native';
import {
  causeOf,
  heartbeatTimes,
  KeyRenewal,
  lost,
  openHole,
  type ReachedSender,
  type ReachOptions,
  watchOwnEnd,
} from '@keibidrop/peer';
import { type InfoReply, ShareClient } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { openSession, refuseCall, relayLaneTokens, type Session } from '@keibidrop/session';
import { remoteError } from '@keibidrop/transfer';

import { BatchedCalls, type UnaryMethod } from '../batched-calls.ts';
import { LaneNumbers } from '../lane-numbers.ts';
import { checkedInfo, type ShareInfo } from '../share-entries.ts';
import type { LaneSource } from './guest-lanes.ts';

/** The gRPC status UNIMPLEMENTED: the peer does not serve Share. */
const UNIMPLEMENTED = 12;

/** A job that carries lanes of a session. */
export interface LaneCarrier {
  /** From now on every lane's reader can follow its writer to this rekey. The secret is copied. */
  rekey(number: number, secret: Uint8Array): void;
  /** Every lane's writer moves to this rekey. */
  rekeyReady?(number: number): void;
}

/** One session of a guest with the sharing peer, from the handshake to its end. */
export class GuestSession {
  readonly client: ShareClient;
  /** The source of this session's lanes; its secret is wiped when the session ends. */
  readonly lanes: LaneSource;
  readonly #session: Session;
  readonly #cut = new AbortController();
  readonly #unwatch: () => void;
  readonly #carriers = new Map<LaneCarrier, number>();
  readonly #renewal: KeyRenewal;
  readonly #batched: BatchedCalls;
  #batches = false;

  /** Wipes the given keys. */
  constructor({ socket, keys, path }: ReachedSender, reach: ReachOptions) {
    const laneKeys: LaneKeys = { ...keys, laneSecret: keys.laneSecret.slice() };
    const relayTokens = path === 'relay' ? relayLaneTokens(keys.laneSecret) : undefined;
    this.lanes = {
      host: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      keys: laneKeys,
      numbers: new LaneNumbers(),
      way: async (lane) => ({
        relayToken: (await relayTokens)?.[lane],
        fromPort:
          path === 'punched' ? await openHole(this.#session.client, { reach, signal: this.#cut.signal }) : undefined,
      }),
    };
    this.#session = openSession(socket, keys, 'initiator', {
      peerService: { transfer: refuseCall, digests: refuseCall },
      heartbeat: heartbeatTimes(),
      signal: this.#cut.signal,
    });
    this.#renewal = this.#renew();
    keys.wipe();
    this.client = new ShareClient('peer', credentials.createInsecure(), { channelOverride: this.#session.channel });
    this.#batched = new BatchedCalls(this.client);
    this.#unwatch = watchOwnEnd(socket, () => this.#cut.abort(networkGone()));
    void this.#session.closed.then(() => {
      this.#unwatch();
      laneKeys.laneSecret.fill(0);
    });
  }

  /**
   * Introduces this guest, and requests the share's description.
   *
   * @param held  the attempt of our guest secret, if any
   * @returns     `remembers`: the peer has stored this session's guest secret
   * @throws NOT_A_SHARE; the reason the session ended; `signal.reason` on abort
   */
  async begin(
    label: string,
    { held = new Uint8Array(), signal }: { held?: Uint8Array | undefined; signal: AbortSignal },
  ): Promise<{ info: ShareInfo; remembers: boolean }> {
    try {
      const reply = await unary<InfoReply>((done) => this.client.info({ label, remember: held }, done), { signal });
      this.#batches = reply.batches;
      return { info: checkedInfo(reply), remembers: reply.remembers };
    } catch (reason) {
      const unknown = (reason as { code?: unknown }).code === UNIMPLEMENTED;
      const error = unknown ? new KeibiError('NOT_A_SHARE', undefined, { cause: reason }) : await this.causeOf(reason);
      await this.close(KeibiError.from(error, 'CANCELLED'));
      throw error;
    }
  }

  /** A call of Share that may be batched. Throws as `unary` does. */
  call<Request, Reply>(
    method: UnaryMethod<Request, Reply>,
    request: Request,
    { signal }: { signal: AbortSignal },
  ): Promise<Reply> {
    if (this.#batches) return this.#batched.call(method, request, { signal });
    const { path, requestSerialize, responseDeserialize } = method;
    return unary<Reply>(
      (done) =>
        this.client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, reply) =>
          done(error, reply as Reply),
        ),
      { signal },
    );
  }

  /** Why a call failed: the end of the session, if it has ended, else the peer's error. */
  causeOf(symptom: unknown): Promise<unknown> {
    if ((symptom as { name?: unknown }).name === 'AbortError') return Promise.resolve(symptom);
    return causeOf(remoteError(symptom), this.#session);
  }

  /** Resolves after our goodbye. @throws any other reason the session ended */
  async ended(): Promise<void> {
    if ((await this.#session.closed) !== undefined) await lost(this.#session);
  }

  /**
   * Counts `bytes` that a carrier's lanes have moved in this session: renews the keys of all lanes in time (PROTOCOL
   * 4.3). A failed renewal ends the session.
   */
  carried(carrier: LaneCarrier, bytes: number): void {
    this.#carriers.set(carrier, bytes);
    this.#renewal.onBytes([...this.#carriers.values()].reduce((sum, each) => sum + each, 0));
  }

  #renew(): KeyRenewal {
    return new KeyRenewal(
      this.#session,
      (number, secret) => {
        for (const carrier of this.#carriers.keys()) carrier.rekey(number, secret);
        secret.fill(0);
      },
      (reason) => void this.close(KeibiError.from(reason, 'SESSION_LOST')),
      (number) => {
        for (const carrier of this.#carriers.keys()) carrier.rekeyReady?.(number);
      },
    );
  }

  close(reason?: KeibiError): Promise<void> {
    return this.#session.close(reason);
  }
}

/** One call and its answer; an abort cancels it. @throws the error of grpc-js; `signal.reason` on abort */
export async function unary<Reply>(
  call: (done: (error: ServiceError | null, reply: Reply) => void) => ClientUnaryCall,
  { signal }: { signal: AbortSignal },
): Promise<Reply> {
  signal.throwIfAborted();
  let onAbort = () => {};
  try {
    return await new Promise<Reply>((resolve, reject) => {
      const running = call((error, reply) => (error === null ? resolve(reply) : reject(error)));
      onAbort = () => {
        running.cancel();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function networkGone(): KeibiError {
  return new KeibiError('SESSION_LOST', 'This computer has left the network.', { detail: { silent: true } });
}
