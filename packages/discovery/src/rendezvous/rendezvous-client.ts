// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { type ChannelInterface, type ClientDuplexStream, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { type JoinReply, type JoinRequest, Open_Role, type Opened, RendezvousClient } from '@keibidrop/proto';
import { KeibiError, type MessagePipe } from '@keibidrop/protocol';
import { rendezvousUnreachable } from '../dial/dial-rendezvous.ts';
import type { HostPort } from '../host-port.ts';
import { type Observation, observationOf } from './observation.ts';

type Call = ClientDuplexStream<JoinRequest, JoinReply>;

/** Limit for the first answer. */
export const OPEN_TIMEOUT_MS = 10_000;
/** On close, limit for the delivery of the last message. */
const CLOSE_TIMEOUT_MS = 2000;

/** Makes a gRPC channel from a connection and takes ownership of it. Session provides one; grpc-js itself can only dial, and costs 15 ms more. */
export type OpenChannel = (connection: Socket) => ChannelInterface;

export interface JoinOptions {
  openChannel: OpenChannel;
  /** The mailbox belongs to two contacts (PROTOCOL 10), not to a nameplate. */
  contact?: boolean;
  signal: AbortSignal;
}

/** A conversation with the owner of a mailbox. */
export interface GuestConversation extends MessagePipe {
  /** Our end of the connection as the server sees it, if it reports that. */
  readonly observed?: Observation | undefined;
  /** Numeric address of the mailbox's server. */
  readonly address?: string | undefined;
  /** The relay that this server names. */
  readonly relay?: HostPort | undefined;
}

/**
 * Enters a mailbox as a guest.
 *
 * @param connection  to the rendezvous at `place`; owned by this function from now on
 * @throws            RENDEZVOUS_NOT_FOUND, RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
 */
export async function joinOver(
  connection: Socket,
  place: HostPort,
  mailbox: string,
  { openChannel, signal, contact = false }: JoinOptions,
): Promise<GuestConversation> {
  const channelOverride = openChannel(connection);
  const pipe = new GuestPipe(new RendezvousClient('peer', credentials.createInsecure(), { channelOverride }), place);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(rendezvousUnreachable(place)), OPEN_TIMEOUT_MS);
  const onAbort = () => timeout.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const seen = await pipe.open(mailbox, contact, { signal: timeout.signal });
    pipe.observed = observationOf(seen, connection);
    pipe.address = connection.remoteAddress;
    if (seen.relayHost !== '') pipe.relay = { host: seen.relayHost, port: seen.relayPort };
    return pipe;
  } catch (reason) {
    pipe.cancel();
    throw reason;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

class GuestPipe implements GuestConversation {
  observed: Observation | undefined;
  address: string | undefined;
  relay: HostPort | undefined;
  readonly #client: RendezvousClient;
  readonly #call: Call;
  readonly #place: HostPort;
  #opened = false;
  #failure: KeibiError | undefined;

  constructor(client: RendezvousClient, place: HostPort) {
    const call = client.join();
    this.#client = client;
    this.#call = call;
    this.#place = place;
    call.on('error', (error: ServiceError) => {
      this.#failure ??= this.#opened ? left(error) : refusalOf(place, error);
    });
    call.once('status', () => {
      this.#failure ??= left();
      client.close();
    });
  }

  async open(mailbox: string, contact: boolean, { signal }: { signal: AbortSignal }): Promise<Opened> {
    this.#call.write({
      kind: {
        $case: 'open',
        value: { mailbox: Buffer.from(mailbox, 'hex'), role: Open_Role.GUEST, owner: new Uint8Array(), contact },
      },
    });
    const { kind } = await this.#next(signal);
    if (kind?.$case !== 'opened') throw rendezvousUnreachable(this.#place);
    this.#opened = true;
    return kind.value;
  }

  async send(body: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await new Promise<void>((resolve) => {
      this.#call.write({ kind: { $case: 'body', value: { guest: 0, body } } }, () => resolve());
    });
  }

  async receive({ signal }: { signal: AbortSignal }): Promise<Uint8Array> {
    const { kind } = await this.#next(signal);
    if (kind?.$case !== 'body') throw new KeibiError('HANDSHAKE_MALFORMED');
    return kind.value.body;
  }

  close(): void {
    this.#failure ??= left();
    this.#call.end();
    // The server ends the call in return, and 'status' then frees the connection.
    const timer = setTimeout(() => this.cancel(), CLOSE_TIMEOUT_MS).unref();
    this.#call.once('status', () => clearTimeout(timer));
    this.#call.resume();
  }

  cancel(): void {
    this.#failure ??= left();
    this.#call.cancel();
    this.#client.close();
  }

  async #next(signal: AbortSignal): Promise<JoinReply> {
    for (;;) {
      signal.throwIfAborted();
      const reply: JoinReply | null = this.#call.read();
      if (reply !== null) return reply;
      if (this.#failure !== undefined) throw this.#failure;
      await this.#change(signal);
    }
  }

  /** Resolves when there is something to read, when the call has ended, or on abort. */
  #change(signal: AbortSignal): Promise<void> {
    const call = this.#call;
    return new Promise((resolve) => {
      const done = () => {
        call.off('readable', done).off('status', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      call.on('readable', done).on('status', done);
      signal.addEventListener('abort', done);
    });
  }
}

/** The error for a rendezvous' refusal to let us in. */
export function refusalOf(place: HostPort, error: ServiceError): KeibiError {
  if (error.code === status.NOT_FOUND) return new KeibiError('RENDEZVOUS_NOT_FOUND', undefined, { cause: error });
  if (error.code === status.ALREADY_EXISTS)
    return new KeibiError('RENDEZVOUS_BUSY', undefined, { cause: error, detail: { taken: true } });
  if (error.code === status.RESOURCE_EXHAUSTED) return new KeibiError('RENDEZVOUS_BUSY', undefined, { cause: error });
  return rendezvousUnreachable(place, error);
}

function left(cause?: unknown): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', 'The other side left before the meeting was complete. Try again.', {
    cause,
  });
}
