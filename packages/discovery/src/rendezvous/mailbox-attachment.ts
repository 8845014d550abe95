// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { type ClientDuplexStream, credentials, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { type JoinReply, type JoinRequest, Open_Role, type Opened, RendezvousClient } from '@keibidrop/proto';
import { type Conversation, Inbox, KeibiError, MAX_MAILBOX_BODY_BYTES } from '@keibidrop/protocol';
import { dialableRelay } from '../dial/dial-policy.ts';
import { rendezvousUnreachable } from '../dial/dial-rendezvous.ts';
import { type HostPort, isHostPort } from '../host-port.ts';
import { type Observation, observationOf } from './observation.ts';
import { type JoinOptions, OPEN_TIMEOUT_MS, refusalOf } from './rendezvous-client.ts';

type Call = ClientDuplexStream<JoinRequest, JoinReply>;

/** Guests in conversation with an owner at one time; further ones are dismissed. */
const MAX_CONVERSATIONS = 64;
/** Unread bodies of one guest; one more ends its conversation. */
const MAX_QUEUED_BODIES = 16;
/** Idle time before keepalive probes start. A dead server is detected after ten probes, one second apart. */
const KEEPALIVE_MS = 20_000;

export interface AttachOptions extends JoinOptions {
  /** OWNER_BYTES by which the server recognises us when an earlier attachment of ours has died. */
  owner: Uint8Array;
  /** Receives a guest after its first message; throws if there is no room. */
  arrive(conversation: Conversation): void;
  /** False: the caller does not need the server's relay, so its address is not resolved. */
  relayed?: boolean;
}

/** A relay as each side of a session dials it, so that both reach the same server. */
export interface RelayAccess {
  /** Address for us: numeric. */
  readonly own: HostPort;
  /** Address for a guest: the relay that the server names, else the rendezvous; numeric if its name leads to several servers. */
  readonly guests: HostPort;
}

interface RelayOffer {
  relay?: RelayAccess;
  refused?: HostPort;
}

const NO_RELAY: RelayOffer = {};

/** A connection to a server that holds a mailbox open for us. */
export interface Attachment {
  /** Our end of the connection as the server sees it, if it reports that. */
  readonly observed: Observation | undefined;
  /** The server's relay, if it has one. */
  readonly relay: RelayAccess | undefined;
  /** A relay that the server names and that we must not dial. */
  readonly refusedRelay: HostPort | undefined;
  /** Resolves with the reason when the server drops us or the connection is lost. All conversations have ended by then. */
  readonly ended: Promise<KeibiError>;
  /** Gives up the mailbox. Idempotent. */
  close(): void;
}

/**
 * Takes a mailbox at a server as its owner.
 *
 * @param connection  to the rendezvous at `place`; owned by this function from now on
 * @throws            RENDEZVOUS_BUSY if it has an owner (`detail.taken`) or the server has no room; RENDEZVOUS_UNREACHABLE;
 *                    `signal.reason` on abort
 */
export async function attachAsOwner(
  connection: Socket,
  place: HostPort,
  mailbox: string,
  { openChannel, signal, arrive, owner, contact = false, relayed = true }: AttachOptions,
): Promise<Attachment> {
  connection.setKeepAlive(true, KEEPALIVE_MS);
  const reached = { host: connection.remoteAddress ?? place.host, port: connection.remotePort ?? place.port };
  const client = new RendezvousClient('peer', credentials.createInsecure(), {
    channelOverride: openChannel(connection),
  });
  const attachment = new OwnerCall(client, place, arrive);
  const late = setTimeout(() => attachment.close(), OPEN_TIMEOUT_MS);
  const onAbort = () => attachment.close();
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const opened = await attachment.open(mailbox, owner, contact);
    const { relay, refused } = relayed && opened.relay ? await relayAccess(opened, place, reached) : NO_RELAY;
    signal.throwIfAborted();
    return {
      observed: observationOf(opened, connection),
      relay,
      refusedRelay: refused,
      ended: attachment.ended,
      close: () => attachment.close(),
    };
  } catch (reason) {
    attachment.close();
    signal.throwIfAborted();
    throw reason;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', onAbort);
  }
}

/** The relay that the server names, else the address at which we reached the server. A relay that we must not dial is only reported. */
async function relayAccess(opened: Opened, place: HostPort, reached: HostPort): Promise<RelayOffer> {
  const { relayHost: host, relayPort: port, shared } = opened;
  if (host === '') return { relay: { own: reached, guests: shared ? reached : place } };
  const guests = { host, port };
  if (!isHostPort(guests)) return { refused: guests };
  const own = await dialableRelay(guests, { address: reached.host, rendezvous: place, reachedRendezvous: true });
  return own === undefined ? { refused: guests } : { relay: { own, guests } };
}

class OwnerCall {
  readonly ended: Promise<KeibiError>;
  readonly #client: RendezvousClient;
  readonly #call: Call;
  readonly #arrive: (conversation: Conversation) => void;
  /** Keyed by the server's number. A guest that we have dismissed stays until the server confirms that it left. */
  readonly #guests = new Map<number, RemoteConversation>();
  #onOpened: (opened: Opened) => void = () => {};

  constructor(client: RendezvousClient, place: HostPort, arrive: (conversation: Conversation) => void) {
    this.#client = client;
    this.#call = client.join();
    this.#arrive = arrive;
    this.#call.on('data', (reply: JoinReply) => this.#take(reply));
    // 'status' follows with the same reason.
    this.#call.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.#call.once('status', (ending: StatusObject) => {
        client.close();
        for (const conversation of this.#guests.values()) conversation.end();
        resolve(endedBecause(place, ending));
      });
    });
  }

  /** @throws RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE */
  async open(mailbox: string, owner: Uint8Array, contact: boolean): Promise<Opened> {
    const opened = new Promise<Opened>((resolve) => {
      this.#onOpened = resolve;
    });
    this.#write({
      $case: 'open',
      value: { mailbox: Buffer.from(mailbox, 'hex'), role: Open_Role.OWNER, owner, contact },
    });
    const outcome = await Promise.race([opened, this.ended]);
    if (outcome instanceof KeibiError) throw outcome;
    return outcome;
  }

  close(): void {
    this.#call.cancel();
    this.#client.close();
  }

  #take({ kind }: JoinReply): void {
    if (kind?.$case === 'opened') this.#onOpened(kind.value);
    else if (kind?.$case === 'body') this.#hear(kind.value.guest, kind.value.body);
    else if (kind?.$case === 'left') {
      this.#guests.get(kind.value.guest)?.end();
      this.#guests.delete(kind.value.guest);
    }
  }

  /** Passes a guest's message on. A message that is too long, or one too many, ends only that guest's conversation. */
  #hear(guest: number, body: Uint8Array): void {
    try {
      if (body.length > MAX_MAILBOX_BODY_BYTES) throw new KeibiError('HANDSHAKE_MALFORMED');
      const known = this.#guests.get(guest);
      if (known === undefined) this.#meet(guest, body);
      else known.hear(body);
    } catch {
      this.#guests.get(guest)?.end();
      void this.#write({ $case: 'dismiss', value: { guest } });
    }
  }

  /** @throws RENDEZVOUS_BUSY if there is no room for another guest */
  #meet(guest: number, body: Uint8Array): void {
    if (this.#guests.size >= MAX_CONVERSATIONS) throw new KeibiError('RENDEZVOUS_BUSY');
    const conversation = new RemoteConversation(guest, (kind) => this.#write(kind));
    conversation.hear(body);
    this.#arrive(conversation);
    this.#guests.set(guest, conversation);
  }

  #write(kind: JoinRequest['kind']): Promise<void> {
    return new Promise((resolve) => {
      if (this.#call.writable) this.#call.write({ kind }, () => resolve());
      else resolve();
    });
  }
}

class RemoteConversation implements Conversation {
  readonly guest: number;
  readonly #write: (kind: JoinRequest['kind']) => Promise<void>;
  readonly #inbox = new Inbox<Uint8Array>(MAX_QUEUED_BODIES);
  #over = false;

  constructor(guest: number, write: (kind: JoinRequest['kind']) => Promise<void>) {
    this.guest = guest;
    this.#write = write;
  }

  async send(body: Uint8Array): Promise<void> {
    if (this.#over) throw guestLeft();
    await this.#write({ $case: 'body', value: { guest: this.guest, body } });
  }

  receive(options: { signal: AbortSignal }): Promise<Uint8Array> {
    return this.#inbox.take(options);
  }

  close(): void {
    if (this.#over) return;
    this.#inbox.clear();
    this.end();
    void this.#write({ $case: 'dismiss', value: { guest: this.guest } });
  }

  /** @throws RENDEZVOUS_BUSY if the owner has too many unread bodies */
  hear(body: Uint8Array): void {
    if (!this.#over) this.#inbox.put(body);
  }

  /** Accepts no more bodies; queued ones can still be read. */
  end(): void {
    this.#over = true;
    this.#inbox.end(guestLeft());
  }
}

function endedBecause(place: HostPort, ending: StatusObject): KeibiError {
  if (ending.code === status.OK) return rendezvousUnreachable(place, new Error('the server has ended the call'));
  return refusalOf(place, Object.assign(new Error(ending.details), ending) as ServiceError);
}

function guestLeft(): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', 'The guest left before the meeting was complete.');
}
