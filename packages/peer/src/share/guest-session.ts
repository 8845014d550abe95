// SPDX-License-Identifier: MPL-2.0
import { type ClientUnaryCall, credentials, type ServiceError } from '@grpc/grpc-js';
import type { LaneKeys } from '@keibidrop/native';
import { type InfoReply, ShareClient } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { openSession, refuseCall, relayLaneTokens, type Session } from '@keibidrop/session';
import { remoteError } from '@keibidrop/transfer';
import { watchOwnEnd } from '../address-watch.ts';
import type { ReachOptions } from '../api.ts';
import type { ReachedSender } from '../dial-sender.ts';
import { heartbeatTimes } from '../heartbeat-times.ts';
import { KeyRenewal } from '../key-renewal.ts';
import { openHole } from '../punched-lanes.ts';
import { causeOf, lost } from '../session-end.ts';
import { BatchedCalls, type UnaryMethod } from './batched-calls.ts';
import type { LaneSource } from './guest-lanes.ts';
import { LaneNumbers } from './lane-numbers.ts';
import { checkedInfo, type ShareInfo } from './share-entries.ts';

/** What a peer without Share says of a call to it (gRPC UNIMPLEMENTED). */
const UNIMPLEMENTED = 12;

/** Whose lanes a session has. */
export interface LaneCarrier {
  /** Every lane's reader can follow its writer to this fold. The secret is copied. */
  fold(number: number, secret: Uint8Array): void;
  /** Every lane's writer moves to it. */
  foldReady?(number: number): void;
}

/** One session of a guest with the peer that shares, from the handshake to its end. */
export class GuestSession {
  readonly client: ShareClient;
  /** For lanes of this session; its secret is wiped with the end of it. */
  readonly lanes: LaneSource;
  readonly #session: Session;
  readonly #cut = new AbortController();
  readonly #unwatch: () => void;
  readonly #carriers = new Map<LaneCarrier, number>();
  readonly #renewal: KeyRenewal;
  readonly #batched: BatchedCalls;
  #batches = false;

  /** Wipes the keys. */
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
   * Says who we are, and asks what is shared.
   *
   * @param held  the attempt of the guest secret that we have, if any
   * @returns     `remembers`: the peer has kept this session's guest secret
   * @throws NOT_A_SHARE; what ended the session; `signal.reason` on abort
   */
  async begin(
    label: string,
    { held = new Uint8Array(), signal }: { held?: Uint8Array | undefined; signal: AbortSignal },
  ): Promise<{ info: ShareInfo; remembers: boolean }> {
    try {
      const told = await unary<InfoReply>((done) => this.client.info({ label, remember: held }, done), { signal });
      this.#batches = told.batches;
      return { info: checkedInfo(told), remembers: told.remembers };
    } catch (reason) {
      const unknown = (reason as { code?: unknown }).code === UNIMPLEMENTED;
      const error = unknown ? new KeibiError('NOT_A_SHARE', undefined, { cause: reason }) : await this.causeOf(reason);
      await this.close(KeibiError.from(error, 'CANCELLED'));
      throw error;
    }
  }

  /** One of Share's calls that may be batched. Throws as `unary` does. */
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

  /** Why a call failed: what ended the session, if that is over, else what its peer said. */
  causeOf(symptom: unknown): Promise<unknown> {
    if ((symptom as { name?: unknown }).name === 'AbortError') return Promise.resolve(symptom);
    return causeOf(remoteError(symptom), this.#session);
  }

  /** Resolves after a goodbye of ours. @throws what else ended the session */
  async ended(): Promise<void> {
    if ((await this.#session.closed) !== undefined) await lost(this.#session);
  }

  /**
   * Somebody's lanes have carried so many bytes of this session: keeps the keys of all lanes fresh (PROTOCOL 4.3). A renewal that fails ends the
   * session.
   */
  carried(carrier: LaneCarrier, bytes: number): void {
    this.#carriers.set(carrier, bytes);
    this.#renewal.onBytes([...this.#carriers.values()].reduce((sum, each) => sum + each, 0));
  }

  #renew(): KeyRenewal {
    return new KeyRenewal(
      this.#session,
      (number, secret) => {
        for (const carrier of this.#carriers.keys()) carrier.fold(number, secret);
        secret.fill(0);
      },
      (reason) => void this.close(KeibiError.from(reason, 'SESSION_LOST')),
      (number) => {
        for (const carrier of this.#carriers.keys()) carrier.foldReady?.(number);
      },
    );
  }

  close(reason?: KeibiError): Promise<void> {
    return this.#session.close(reason);
  }
}

/** One call and its answer; an abort cancels it. @throws the call's failure as grpc-js tells it; `signal.reason` on abort */
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
