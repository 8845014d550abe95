// SPDX-License-Identifier: MPL-2.0

import type { PeerEvent } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import type { ErrorCode } from '@keibidrop/protocol';

/** Limit of reported sessions. Beyond it the oldest ended ones are left out, then the oldest. */
const MAX_PEERS = 100;
const OVER: readonly string[] = ['done', 'failed'];

/** The fields of local.Transfer about the peers of a run, its connection, and why no better connection works. */
type Fields = Pick<
  local.Transfer,
  'peers' | 'tried' | 'reconnecting' | 'reachability' | 'failed' | 'resumedBytes' | 'guessesLeft'
>;

/** The peers of one run, built from its events. */
export class PeerStats {
  readonly #peers = new Map<number, local.TransferPeer>();
  /** By the name of a contact, until its session begins. */
  readonly #invited = new Map<string, local.TransferPeer>();
  #tried: local.Way[] = [];
  #reconnecting: local.Reconnecting | undefined;
  #reachability: local.Reachability | undefined;
  #guessesLeft: number;

  /** @param guesses  wrong codes that are allowed; 0 without a code */
  constructor(guesses: number) {
    this.#guessesLeft = guesses;
  }

  take(event: PeerEvent): void {
    switch (event.type) {
      case 'inviting':
        this.#invite(event.contact, event.state);
        break;
      case 'connected':
        this.#connect(event);
        break;
      case 'reconnecting':
        this.#reconnecting = { reason: event.reason, attempt: event.attempt, next: Date.now() + event.nextInMs };
        this.#change(1, { state: 'lost', bytesPerSecond: 0, error: { code: 'SESSION_LOST', message: event.reason } });
        break;
      case 'receiverLost': {
        const { session, code, message, mayReturn, peer, contact } = event;
        const state = mayReturn ? 'lost' : 'failed';
        if (contact !== undefined) this.#adopt(contact, session);
        this.#change(session, { state, peer, contact, bytesPerSecond: 0, error: { code, message } });
        break;
      }
      case 'receiverDone': {
        const { session, resumedBytes, failed } = event;
        this.#change(session, { state: 'done', bytesPerSecond: 0, resumedBytes, failed, error: undefined });
        break;
      }
      case 'paused':
        if (event.by === 'peer') this.#change(event.session ?? 1, { state: event.paused ? 'paused' : 'connected' });
        break;
      case 'progress': {
        const { type: _, session, contact: __, ...numbers } = event;
        this.#change(session, { ...numbers, bytesPerSecond: Math.round(numbers.bytesPerSecond) });
        break;
      }
      case 'failed':
        this.#change(event.session, { failed: (this.#peers.get(event.session)?.failed ?? 0) + 1 });
        break;
      default:
        this.#reach(event);
    }
  }

  /** The run has ended. */
  end(state: 'done' | 'failed' | 'cancelled', code: ErrorCode | undefined): void {
    this.#reconnecting = undefined;
    if (code === 'CODE_EXHAUSTED') this.#guessesLeft = 0;
    for (const peer of [...this.#peers.values(), ...this.#invited.values()]) {
      peer.bytesPerSecond = 0;
      if (!OVER.includes(peer.state)) peer.state = state === 'done' ? 'done' : 'lost';
    }
  }

  fields(): Fields {
    const peers = [...this.#peers.values(), ...this.#invited.values()];
    const sum = (of: 'failed' | 'resumedBytes') => peers.reduce((total, peer) => total + peer[of], 0);
    return {
      // Copied, because callers may keep the result.
      peers: peers.map((peer) => ({ ...peer })),
      tried: this.#tried,
      reconnecting: this.#reconnecting,
      reachability: this.#reachability,
      failed: sum('failed'),
      resumedBytes: sum('resumedBytes'),
      guessesLeft: this.#guessesLeft,
    };
  }

  #invite(contact: string, state: string): void {
    const [peer] = [this.#invited.get(contact), ...this.#peers.values()].filter((one) => one?.contact === contact);
    if (peer !== undefined) peer.invitation = state;
    else this.#invited.set(contact, { ...fresh(0), state: 'inviting', contact, invitation: state });
  }

  /** Moves the data of an invited contact to its session. */
  #adopt(contact: string, session: number): void {
    const invited = this.#invited.get(contact);
    this.#invited.delete(contact);
    if (invited !== undefined) this.#peers.set(session, { ...invited, session });
  }

  #connect({ session, peer, contact, verified, path, suite, tried }: Extract<PeerEvent, { type: 'connected' }>): void {
    if (contact !== undefined) this.#adopt(contact, session);
    this.#change(session, { state: 'connected', peer, contact, verified, path, suite, error: undefined });
    this.#reconnecting = undefined;
    if (tried !== undefined) this.#tried = tried.map((way) => ({ ...way }));
  }

  #change(session: number, change: Partial<local.TransferPeer>): void {
    this.#peers.set(session, { ...(this.#peers.get(session) ?? fresh(session)), ...change });
    if (this.#peers.size <= MAX_PEERS) return;
    const [first] = this.#peers.keys();
    const over = [...this.#peers].find(([, { state }]) => OVER.includes(state))?.[0] ?? first;
    if (over !== undefined) this.#peers.delete(over);
  }

  #reach(event: PeerEvent): void {
    const known = this.#reachability ?? { relay: false };
    if (event.type === 'wrongCode') this.#guessesLeft = event.remaining;
    if (event.type === 'waiting') this.#reachability = { ...known, listen: `${event.host}:${event.port}` };
    if (event.type === 'rendezvous') {
      const { state, address, relay = false, message } = event;
      this.#reachability = {
        ...known,
        relay,
        rendezvous: state,
        rendezvousAddress: address,
        rendezvousReason: message,
      };
    }
    if (event.type === 'mapping') {
      const { state, address, message } = event;
      this.#reachability = { ...known, mapping: state, mappingAddress: address, mappingReason: message };
    }
  }
}

function fresh(session: number): local.TransferPeer {
  return {
    session,
    state: 'connected',
    files: 0,
    bytes: 0,
    totalFiles: 0,
    totalBytes: 0,
    totalsFinal: false,
    bytesPerSecond: 0,
    resumedBytes: 0,
    failed: 0,
  };
}
