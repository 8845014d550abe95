// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  formatHostPort,
  type HostPort,
  isPrivateAddress,
  keepPortMapped,
  type MailboxState,
  type MappedPort,
  ownMailbox,
  parseRendezvous,
  reachableAddresses,
} from '@keibidrop/discovery';
import type { Listener } from '@keibidrop/native';
import { type Candidate, KeibiError, type Owner, RELAY_TOKEN_BYTES } from '@keibidrop/protocol';
import { openGrpcChannel } from '@keibidrop/session';
import type { ReachOptions } from '../api.ts';
import type { PeerEvent, RendezvousEvent, WarningEvent } from '../events.ts';
import { HolePuncher } from './hole-puncher.ts';
import { isBoundToAll, type OwnPort, ownCandidates } from './own-candidates.ts';

export interface SenderReachOptions {
  listener: Listener;
  reach: ReachOptions;
  onEvent(event: PeerEvent): void;
  signal: AbortSignal;
}

/** How long a relay waits for a guest: as long as its meeting is kept. */
const RELAY_WAIT_MS = 30_000;
/** Pause before the relay is asked again for the same lane. */
const LANE_PAUSE_MS = 1000;

/** How distant receivers reach one sender: its mailbox at a public rendezvous, its candidates, and the relay. */
export class SenderReach {
  readonly #options: SenderReachOptions;
  readonly #rendezvous: HostPort | undefined;
  /** Held back until the sender waits, because no event may precede `waiting`. */
  #unreported: (RendezvousEvent | WarningEvent)[] | undefined = [];
  #begun = false;
  #state: MailboxState | undefined;
  readonly holes: HolePuncher;
  #mapped: MappedPort | undefined;
  #unmap: (() => Promise<void>) | undefined;

  /** @throws PEER_UNREACHABLE if only a relay may be used and no rendezvous is named; USAGE if its address is invalid */
  constructor(options: SenderReachOptions) {
    const { rendezvous, relayOnly } = options.reach;
    this.#options = options;
    this.holes = new HolePuncher(relayOnly ? undefined : options.listener);
    this.#rendezvous = rendezvous === undefined ? undefined : parseRendezvous(rendezvous);
    if (relayOnly && this.#rendezvous === undefined) throw relayNotNamed();
  }

  /**
   * Takes a mailbox at the public rendezvous, if one is named, until `over`. A rendezvous that is down is retried. Events
   * report the state of the mailbox that was taken before `begin`.
   *
   * @throws RENDEZVOUS_BUSY if another sender has the mailbox; PEER_UNREACHABLE if only a relay may be used and there is none
   */
  async own(mailbox: string, over: AbortSignal): Promise<Owner | undefined> {
    const place = this.#rendezvous;
    if (place === undefined) return undefined;
    const { listener, reach } = this.#options;
    const signal = AbortSignal.any([this.#options.signal, over]);
    if (this.#begun) return ownMailbox(place, mailbox, { openChannel: openGrpcChannel, signal, onState: () => {} });
    this.#unreported = [];
    const fromPort = reach.relayOnly ? {} : { fromPort: listener.port };
    const onState = (state: MailboxState) => this.#take(place, state);
    const owner = await ownMailbox(place, mailbox, {
      openChannel: openGrpcChannel,
      signal,
      onState,
      ...fromPort,
    });
    if (reach.relayOnly && this.#state?.kind === 'open' && !this.#state.relay) {
      owner.close();
      const why = noRelay(place, this.#state.refusedRelay);
      throw new KeibiError('PEER_UNREACHABLE', `${why} Leave --relay-only out, or name another.`);
    }
    return owner;
  }

  /** Call after the `waiting` event: emits the pending events, and later ones as they come. */
  begin(): void {
    const unreported = this.#unreported ?? [];
    this.#begun = true;
    this.#unreported = undefined;
    for (const event of unreported) this.#options.onEvent(event);
    this.#map();
  }

  /** Removes the router's port mapping. */
  async close(): Promise<void> {
    await this.#unmap?.();
  }

  /** Whether a plain connection came through a mapped port of the router. */
  isMapped(remoteAddress: string): boolean {
    return this.#mapped !== undefined && !isPrivateAddress(remoteAddress);
  }

  /** The candidates for one guest, best first. If a relay is among them, the sender waits there for this guest only. */
  candidates(): Candidate[] {
    const { reach } = this.#options;
    const direct = reach.relayOnly ? [] : ownCandidates(this.#port());
    const relay = reach.directOnly ? undefined : this.#relayCandidate();
    return relay === undefined ? direct : [...direct, relay];
  }

  /**
   * Waits at a relay for the lanes of a session, one after another, until `signal`.
   *
   * @param relay  where the session's control connection was joined
   * @param tokens  one for each lane number
   */
  async joinLanes(relay: HostPort, tokens: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    const { listener } = this.#options;
    for (let lane = 0; lane < tokens.length && !signal.aborted; ) {
      try {
        await listener.joinRelay({ ...relay, token: tokens[lane] as Uint8Array, waitMs: RELAY_WAIT_MS }, { signal });
        lane++;
      } catch {
        // It is no failure if the receiver opens no further lane; real failures are reported by the receiver.
        await sleep(LANE_PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #port(): OwnPort {
    const observed = this.#state?.kind === 'open' ? this.#state.observed : undefined;
    return { listening: this.#options.listener, observed, mapped: this.#mapped };
  }

  /**
   * Asks the router for a port mapping, in the background. Skipped without a rendezvous, with a public address, with a relay
   * only, or with discovery off.
   */
  #map(): void {
    const { listener, reach, onEvent, signal } = this.#options;
    const { observed } = this.#port();
    const free = observed !== undefined && reachableAddresses(listener.host).includes(observed.host);
    if (this.#rendezvous === undefined || reach.relayOnly || reach.discovery === 'off') return;
    if (free || !isBoundToAll(listener)) return;
    this.#unmap = keepPortMapped(listener.port, (state) => {
      this.#mapped = state instanceof KeibiError ? undefined : state;
      if (signal.aborted) return;
      if (state instanceof KeibiError) onEvent({ type: 'mapping', state: 'failed', message: state.message });
      else onEvent({ type: 'mapping', state: 'open', address: formatHostPort(state), by: state.by });
    });
  }

  #relayCandidate(): Candidate | undefined {
    const relay = this.#state?.kind === 'open' ? this.#state.relay : undefined;
    if (relay === undefined) return undefined;
    const token = randomBytes(RELAY_TOKEN_BYTES);
    const { listener, signal, onEvent } = this.#options;
    listener.joinRelay({ ...relay.own, token, waitMs: RELAY_WAIT_MS }, { signal }).catch((reason) => {
      const error = KeibiError.from(reason, 'PEER_UNREACHABLE');
      // The guest had a better path, or has left.
      if (signal.aborted || error.code === 'HANDSHAKE_TIMEOUT') return;
      onEvent({ type: 'warning', message: `The relay refused a receiver: ${error.message}` });
    });
    return { transport: 'relay', ...relay.guests, token: token.toString('hex') };
  }

  #take(place: HostPort, state: MailboxState): void {
    this.#state = state;
    const address = formatHostPort(place);
    const event: RendezvousEvent =
      state.kind === 'open'
        ? { type: 'rendezvous', state: 'open', address, relay: state.relay !== undefined }
        : { type: 'rendezvous', state: 'lost', address, message: state.error.message };
    this.#report(event);
    if (state.kind !== 'open' || state.refusedRelay === undefined || this.#options.reach.directOnly) return;
    const why = noRelay(place, state.refusedRelay);
    this.#report({ type: 'warning', message: `${why} It is not used: ask the operator to correct --advertise.` });
  }

  #report(event: RendezvousEvent | WarningEvent): void {
    if (this.#unreported === undefined) this.#options.onEvent(event);
    else this.#unreported.push(event);
  }
}

/** The error of both sides when only a relay may be used and none is named. */
export function relayNotNamed(): KeibiError {
  return new KeibiError(
    'PEER_UNREACHABLE',
    'With --relay-only peers meet at a rendezvous that relays: name it with --rendezvous HOST:PORT.',
  );
}

function noRelay(place: HostPort, refused: HostPort | undefined): string {
  const rendezvous = `The rendezvous ${formatHostPort(place)}`;
  if (refused === undefined) return `${rendezvous} does not relay.`;
  return `${rendezvous} names a relay at ${formatHostPort(refused)}, which is neither its own host nor a public address.`;
}
