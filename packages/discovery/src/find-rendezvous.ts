// SPDX-License-Identifier: MPL-2.0
import { type Candidate, KeibiError, type MessagePipe } from '@keibidrop/protocol';
import { dialTcp } from './dial-tcp.ts';
import { createDirectTransport } from './direct.ts';
import { formatHostPort, type HostPort } from './host-port.ts';
import { createRegistryTransport } from './registry.ts';
import type { JoinOptions } from './rendezvous-client.ts';
import type { Transport } from './transport.ts';

export interface FindRendezvousOptions {
  /** 32 bytes as lower hex. */
  mailbox: string;
  /** The address a person has named: the only one that is tried. */
  connect?: HostPort | undefined;
  /** A public rendezvous, tried last. */
  rendezvous?: HostPort | undefined;
  /** Searched in order; this machine's registry if absent. */
  transports?: readonly Transport[];
  signal: AbortSignal;
}

/** A mailbox that was found, and where. */
export interface JoinedMailbox {
  readonly pipe: MessagePipe;
  readonly place: Candidate;
}

/** Yields where the owner of a mailbox may be waiting, in the order worth trying. Finding nothing is no error here. */
export async function* findRendezvous(options: FindRendezvousOptions): AsyncGenerator<Candidate> {
  const { mailbox, connect, rendezvous, signal } = options;
  const transports = connect ? [createDirectTransport(connect)] : (options.transports ?? [createRegistryTransport()]);
  for (const transport of transports) yield* transport.find(mailbox, { signal });
  if (!connect && rendezvous) yield { transport: 'rendezvous', ...rendezvous };
}

/**
 * Enters the mailbox at `place` as a guest. gRPC is loaded while the connection is made.
 * @throws  RENDEZVOUS_NOT_FOUND, RENDEZVOUS_BUSY, RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
 */
export async function joinMailbox(place: HostPort, mailbox: string, options: JoinOptions): Promise<MessagePipe> {
  const { signal } = options;
  const dialling = dialTcp(place, { signal }).catch((cause) => {
    signal.throwIfAborted();
    const message = `No rendezvous answers at ${formatHostPort(place)}.`;
    throw new KeibiError('RENDEZVOUS_UNREACHABLE', message, { cause });
  });
  // The channel hears of a broken connection, once there is one.
  const connected = dialling.then((socket) => socket.on('error', () => {}));
  const [connection, { joinOver }] = await Promise.all([connected, import('./rendezvous-client.ts')]);
  return joinOver(connection, place, mailbox, options);
}

/**
 * Enters the mailbox at the first place where it is.
 *
 * @throws  RENDEZVOUS_NOT_FOUND saying what was tried and what to do; PEER_UNREACHABLE if nothing answers where `connect` points;
 *          RENDEZVOUS_BUSY if the mailbox was found and had no room; `signal.reason` on abort. `detail.attempts` has each place's error.
 */
export async function joinAnywhere(options: FindRendezvousOptions & JoinOptions): Promise<JoinedMailbox> {
  const { mailbox, openChannel, signal } = options;
  const attempts: { place: Candidate; error: KeibiError }[] = [];
  for await (const place of findRendezvous(options)) {
    try {
      return { pipe: await joinMailbox(place, mailbox, { openChannel, signal }), place };
    } catch (reason) {
      signal.throwIfAborted();
      attempts.push({ place, error: KeibiError.from(reason, 'RENDEZVOUS_UNREACHABLE') });
    }
  }
  throw notFound(options, attempts);
}

function notFound(options: FindRendezvousOptions, attempts: { place: Candidate; error: KeibiError }[]): KeibiError {
  const detail = {
    attempts: attempts.map(({ place, error }) => ({
      transport: place.transport,
      address: formatHostPort(place),
      error,
    })),
  };
  const busy = attempts.find(({ error }) => error.code === 'RENDEZVOUS_BUSY');
  if (busy) return new KeibiError('RENDEZVOUS_BUSY', busy.error.message, { detail });
  const { connect } = options;
  const dead = attempts.some(({ error }) => error.code === 'RENDEZVOUS_UNREACHABLE');
  if (connect && dead) {
    const text = `Nothing answers at ${formatHostPort(connect)}. Check the address, and that the sender is still running.`;
    return new KeibiError('PEER_UNREACHABLE', text, { detail });
  }
  return new KeibiError('RENDEZVOUS_NOT_FOUND', `${triedWhat(options)} ${doWhat(options)}`, { detail });
}

function triedWhat({ connect, rendezvous }: FindRendezvousOptions): string {
  if (connect) return `The sender at ${formatHostPort(connect)} does not wait under that number.`;
  const places = ['on this machine', ...(rendezvous ? [`at the rendezvous ${formatHostPort(rendezvous)}`] : [])];
  return `Nobody is waiting under that number ${places.join(' or ')}.`;
}

function doWhat({ connect }: FindRendezvousOptions): string {
  return connect
    ? 'Check the number in front of the code, and the address.'
    : 'Check the code and that the sender is still running; if it runs elsewhere, add --connect HOST:PORT.';
}
