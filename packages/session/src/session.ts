// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import { type ChannelInterface, Metadata } from '@grpc/grpc-js';
import type { PeerClient } from '@keibidrop/proto';
import { type ErrorCode, isErrorCode, KeibiError, peerCodeOf, type Suite } from '@keibidrop/protocol';
import { createControlClient } from './control/control-client.ts';
import { type PeerHandlers, serveControl } from './control/control-server.ts';
import { openGrpcChannel, type ServedService } from './control/grpc-duplex.ts';
import { startHeartbeat } from './control/heartbeat.ts';
import { openSealedChannel, type SealedChannel } from './control/sealed-channel.ts';
import type { Keys, Role } from './handshake/key-schedule.ts';

/**
 * The keys that the handshake has agreed on. Once the session is open, all may be wiped except `laneSecret`, which the
 * session exposes.
 */
type AgreedKeys = Omit<Keys, 'wipe' | 'returning' | 'guestSecret'>;

export interface SessionOptions {
  /** Handlers of the calls the peer may make. */
  peerService: PeerHandlers;
  /** Further services that the peer may call, next to Peer. */
  services?: readonly ServedService[];
  /** Ends the session at once. `closed` then resolves with CANCELLED, or with the reason if that is a KeibiError. */
  signal: AbortSignal;
  heartbeat?: Partial<HeartbeatTimes>;
}

/** When a silent peer counts as lost. */
export interface HeartbeatTimes {
  intervalMs: number;
  timeoutMs: number;
  misses: number;
}

/**
 * A control connection after the handshake: both peers serve Peer and call it. The holder of the session owns the
 * lanes.
 */
export interface Session {
  readonly role: Role;
  readonly id: Uint8Array;
  readonly suite: Suite;
  /** The array of `keys`, not a copy: the holder wipes it. */
  readonly laneSecret: Uint8Array;
  /** Calls the peer's Peer service. */
  readonly client: PeerClient;
  /** For clients of the peer's other services. It ends with the session. */
  readonly channel: ChannelInterface;
  /**
   * Resolves once, when the connection is closed. The value is undefined after a goodbye without a reason from either
   * side, the reason given to `close`, or SESSION_CLOSED with `detail.reason` after the peer's goodbye with a reason.
   * Otherwise it is SESSION_LOST (with `detail.silent` when the peer fell silent) or FRAME_*.
   */
  readonly closed: Promise<KeibiError | undefined>;
  /**
   * Sends a goodbye, flushes pending data and closes, within 2 s. Idempotent; all calls resolve when everything is
   * freed.
   */
  close(reason?: KeibiError): Promise<void>;
}

const HEARTBEAT: HeartbeatTimes = { intervalMs: 5000, timeoutMs: 5000, misses: 3 };
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Opens the control plane over `stream`, a connection after the handshake; `stream` is owned from now on (PROTOCOL 8).
 */
export function openSession(stream: Duplex, keys: AgreedKeys, role: Role, options: SessionOptions): Session {
  options.signal.throwIfAborted();
  return new ControlSession(stream, keys, role, options);
}

class ControlSession implements Session {
  readonly role: Role;
  readonly id: Uint8Array;
  readonly suite: Suite;
  readonly laneSecret: Uint8Array;
  readonly client: PeerClient;
  readonly channel: ChannelInterface;
  readonly closed: Promise<KeibiError | undefined>;
  readonly #connection: SealedChannel;
  readonly #stopServing: () => void;
  readonly #stopHeartbeat: () => void;
  #closing: Promise<void> | undefined;
  /** Why the session ends, as one side's goodbye states it; `said: false` until then. */
  #end: { said: boolean; reason: KeibiError | undefined } = { said: false, reason: undefined };

  constructor(stream: Duplex, keys: AgreedKeys, role: Role, options: SessionOptions) {
    this.role = role;
    this.id = keys.sessionId;
    this.suite = keys.suite;
    this.laneSecret = keys.laneSecret;
    this.#connection = openSealedChannel(stream, keys);
    const [initiated, responded] = this.#connection.channels;
    const [called, served] = role === 'initiator' ? [initiated, responded] : [responded, initiated];
    this.#stopServing = serveControl(
      served,
      options.peerService,
      (code) => this.#receiveGoodbye(code),
      options.services,
    );
    this.channel = openGrpcChannel(called);
    this.client = createControlClient(this.channel);
    this.#stopHeartbeat = startHeartbeat({
      ...HEARTBEAT,
      ...options.heartbeat,
      client: this.client,
      onLost: () => this.#connection.destroy(silence('The peer stopped answering.')),
    });
    const onAbort = () => this.#connection.destroy(KeibiError.from(options.signal.reason, 'CANCELLED'));
    options.signal.addEventListener('abort', onAbort, { once: true });
    this.closed = this.#connection.closed.then((failure) => {
      options.signal.removeEventListener('abort', onAbort);
      this.#release();
      return this.#end.said ? this.#end.reason : (failure ?? new KeibiError('SESSION_LOST'));
    });
  }

  close(reason?: KeibiError): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: KeibiError | undefined): Promise<void> {
    const deadline = Date.now() + CLOSE_TIMEOUT_MS;
    const timer = setTimeout(() => {
      this.#connection.destroy(new KeibiError('SESSION_LOST', 'The peer did not answer the goodbye.'));
    }, CLOSE_TIMEOUT_MS);
    this.#stopHeartbeat();
    if (!this.#end.said) {
      // A refusal means that the connection is already closing, and `closed` reports why.
      const heard = await this.#sayGoodbye(reason?.code ?? '', deadline);
      if (heard && !this.#end.said) this.#end = { said: true, reason };
    }
    this.#release();
    await this.closed;
    clearTimeout(timer);
  }

  #sayGoodbye(code: string, deadline: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.client.goodbye({ code }, new Metadata(), { deadline }, (error) => resolve(error === null));
    });
  }

  /** Handles the peer's goodbye. The peer ends the connection once it has our reply; otherwise we do. */
  #receiveGoodbye(code: string): void {
    if (this.#end.said) return;
    this.#end = { said: true, reason: code === '' ? undefined : closedByPeer(code) };
    this.#stopHeartbeat();
    const timer = setTimeout(() => void this.close(), CLOSE_TIMEOUT_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  /** Ends both channels, and with them every call, timer and handle. */
  #release(): void {
    this.#stopHeartbeat();
    this.client.close();
    this.#stopServing();
  }
}

/** The error for a silent peer, which may still be running behind a broken network. */
function silence(message: string): KeibiError {
  return new KeibiError('SESSION_LOST', message, { detail: { silent: true } });
}

/** Goodbye codes about the meeting as a whole, not about how the session went. */
const PLAIN: readonly string[] = ['NOT_A_TRANSFER', 'OFFER_DECLINED', 'PEER_BUSY'] satisfies ErrorCode[];

const CANCELLED_BY_PEER = 'The other side cancelled it. If it starts again, run the same command to continue.';

function closedByPeer(code: string): KeibiError {
  if (isErrorCode(code) && PLAIN.includes(code)) return new KeibiError(code, undefined, { detail: { remote: true } });
  const message = code === 'CANCELLED' ? CANCELLED_BY_PEER : undefined;
  return new KeibiError('SESSION_CLOSED', message, {
    detail: { remote: true, reason: peerCodeOf(code) },
  });
}
