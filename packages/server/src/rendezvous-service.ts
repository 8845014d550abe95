// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  type JoinReply,
  type JoinRequest,
  Open_Role,
  type Opened,
  type RendezvousServer as RendezvousHandlers,
  RendezvousService,
} from '@keibidrop/proto';
import { grpcStatusOf, KeibiError, MAX_MAILBOX_BODY_BYTES, type MessagePipe, type Owner } from '@keibidrop/protocol';
import { contactMailbox, type MailboxKind, type MailboxStore } from './mailbox.ts';
import { NetworkCount, networkOf } from './network.ts';
import { connectionName, type SilentConnections } from './silent-connections.ts';

type Call = ServerDuplexStream<JoinRequest, JoinReply>;

/** The relay that this server announces to its peers (PROTOCOL 2.2, `Opened`). */
export interface RelayNotice {
  /** A name or an address that leads to this server only. */
  at?: { host: string; port: number } | undefined;
  /** Other servers share the mailboxes, so the name that a peer has dialled may lead to another server next time. */
  shared?: boolean;
}

export interface ServiceOptions {
  mailboxes: MailboxStore;
  /** Absent: there is no relay, and peers do not learn their observed address. */
  relay: RelayNotice | undefined;
  /** RendezvousLimits.keepaliveMs */
  keepaliveMs: number;
  /** RendezvousLimits.openTimeoutMs */
  openTimeoutMs: number;
  /** Is notified when a connection asks for a mailbox, enters or leaves it. */
  silent: Pick<SilentConnections, 'called' | 'spoke' | 'mailbox'>;
}

/** A body with its guest number and protobuf fields. */
const MAX_MESSAGE_BYTES = MAX_MAILBOX_BODY_BYTES + 64;
const MAILBOX_BYTES = 32;
const OWNER_BYTES = 16;
/** A guest needs one call. A daemon needs one per contact, and visits their mailboxes on the same connection. */
const MAX_CONCURRENT_CALLS = 1024;
/** Calls of one network that have not sent their first message. */
const MAX_UNDECIDED_CALLS = 512;

/** The Rendezvous service of proto/rendezvous.proto on connections accepted elsewhere. */
export function createService(options: ServiceOptions): {
  attach(socket: Duplex): void;
  close(): void;
} {
  const { openTimeoutMs, keepaliveMs } = options;
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_CALLS,
    'grpc.max_connection_idle_ms': politeMs(openTimeoutMs),
    'grpc.enable_channelz': 0,
    ...(keepaliveMs > 0 && { 'grpc.keepalive_time_ms': keepaliveMs, 'grpc.keepalive_timeout_ms': keepaliveMs }),
  });
  const undecided = new NetworkCount();
  server.addService(RendezvousService, {
    join: (call: Call) => serveJoin(call, undecided, options),
  } satisfies Pick<RendezvousHandlers, 'join'>);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return { attach: (socket) => injector.injectConnection(socket), close: () => server.forceShutdown() };
}

/** When silent calls and idle connections get a goodbye; after `openTimeoutMs` those that ignore it are ended. */
function politeMs(openTimeoutMs: number): number {
  return Math.ceil(openTimeoutMs * 0.8);
}

function serveJoin(call: Call, undecided: NetworkCount, options: ServiceOptions): void {
  const { host, port } = addressOf(call);
  const network = networkOf(host);
  options.silent.called(connectionName(host, port));
  if (!undecided.hasRoom(network, MAX_UNDECIDED_CALLS)) {
    fail(call, new KeibiError('RENDEZVOUS_BUSY'));
    return;
  }
  undecided.add(network);
  const timeout = () => fail(call, new KeibiError('HANDSHAKE_TIMEOUT'));
  const timer = setTimeout(timeout, politeMs(options.openTimeoutMs)).unref();
  let decided = false;
  const decide = () => {
    clearTimeout(timer);
    if (!decided) undecided.remove(network);
    decided = true;
  };
  call.once('close', decide);
  call.once('data', ({ kind }: JoinRequest) => {
    decide();
    // Further messages are for the mailbox, which may have to be requested from another server first.
    call.pause();
    open(call, kind, options)
      .then(() => call.resume())
      .catch((reason) => fail(call, reason));
  });
}

async function open(
  call: Call,
  kind: JoinRequest['kind'],
  { mailboxes, relay, silent }: ServiceOptions,
): Promise<void> {
  if (kind?.$case !== 'open') throw malformed();
  const { mailbox: bytes, owner, role, contact } = kind.value;
  if (bytes.length !== MAILBOX_BYTES || (owner.length !== 0 && owner.length !== OWNER_BYTES)) throw malformed();
  const of: MailboxKind = contact ? 'contact' : 'number';
  const mailbox = contact ? contactMailbox(bytes) : Buffer.from(bytes).toString('hex');
  const seen = addressOf(call);
  const network = networkOf(seen.host);
  const opened = openedFor(seen, relay);
  const connection = connectionName(seen.host, seen.port);
  silent.spoke(connection);
  if (role === Open_Role.OWNER) {
    serveOwner(call, await mailboxes.own(mailbox, network, Buffer.from(owner).toString('hex'), of), opened);
  } else {
    serveGuest(call, await mailboxes.join(mailbox, network, of), opened);
  }
  const leave = silent.mailbox(connection);
  if (call.destroyed) leave();
  else call.once('close', leave);
}

/** Only a relay server reports the observed address; a sender's own mailbox sends no address in clear text. */
function openedFor(seen: { host: string; port: number }, relay: RelayNotice | undefined): Opened {
  if (relay === undefined) return { host: '', port: 0, relay: false, relayHost: '', relayPort: 0, shared: false };
  const { at = { host: '', port: 0 }, shared = false } = relay;
  return { ...seen, relay: true, relayHost: at.host, relayPort: at.port, shared };
}

/** The remote address of a call; empty if its connection is not a socket. */
function addressOf(call: Call): { host: string; port: number } {
  const peer = call.getPeer();
  const colon = peer.lastIndexOf(':');
  if (colon < 0) return { host: '', port: 0 };
  return { host: peer.slice(0, colon).replace(/^::ffff:(?=\d+\.)/i, ''), port: Number(peer.slice(colon + 1)) };
}

function serveGuest(call: Call, pipe: MessagePipe, opened: Opened): void {
  onLeave(call, () => pipe.close());
  call.on('data', ({ kind }: JoinRequest) => {
    if (kind?.$case === 'body') pipe.send(kind.value.body).catch((reason) => fail(call, reason));
    else fail(call, malformed());
  });
  call.write({ kind: { $case: 'opened', value: opened } });
  void forward(pipe, (body) => write(call, { kind: { $case: 'body', value: { guest: 0, body } } })).then(() =>
    call.end(),
  );
}

function serveOwner(call: Call, owner: Owner, opened: Opened): void {
  const conversations = new Map<number, MessagePipe>();
  onLeave(call, () => owner.close());
  call.on('data', ({ kind }: JoinRequest) => {
    const pipe = kind?.$case === 'body' || kind?.$case === 'dismiss' ? conversations.get(kind.value.guest) : undefined;
    // A message for a guest that has just left is no error of the owner's.
    if (kind?.$case === 'body') pipe?.send(kind.value.body).catch(() => pipe.close());
    else if (kind?.$case === 'dismiss') pipe?.close();
    else fail(call, malformed());
  });
  call.write({ kind: { $case: 'opened', value: opened } });
  void (async () => {
    for await (const pipe of owner) {
      const { guest } = pipe;
      conversations.set(guest, pipe);
      void forward(pipe, (body) => write(call, { kind: { $case: 'body', value: { guest, body } } })).then(() => {
        conversations.delete(guest);
        return write(call, { kind: { $case: 'left', value: { guest } } });
      });
    }
    call.end();
  })();
}

/** Forwards bodies from `pipe` until the conversation has ended. */
async function forward(pipe: MessagePipe, put: (body: Uint8Array) => Promise<void>): Promise<void> {
  const { signal } = new AbortController();
  try {
    for (;;) await put(await pipe.receive({ signal }));
  } catch {
    pipe.close();
  }
}

/** Resolves when the caller can take more. A slow caller blocks only its own conversations, which then end by their limits. */
function write(call: Call, reply: JoinReply): Promise<void> {
  return new Promise((resolve) => {
    if (call.destroyed || call.writableEnded) resolve();
    else call.write(reply, () => resolve());
  });
}

function onLeave(call: Call, leave: () => void): void {
  if (call.cancelled || call.destroyed) leave();
  call.once('end', leave);
  call.once('close', leave);
}

function fail(call: Call, reason: unknown): void {
  if (call.destroyed || call.writableEnded) return;
  const error = KeibiError.from(reason, 'INTERNAL');
  const code = error.detail?.taken === true ? status.ALREADY_EXISTS : (grpcStatusOf(error.code) as status);
  call.emit('error', { code, details: error.code });
}

function malformed(): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', 'The request to join a mailbox is malformed.');
}
