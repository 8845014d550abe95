// SPDX-License-Identifier: MPL-2.0
import type { EventView, ProgressView, QuestionView, TransferView } from '@keibidrop/daemon/local';
import type { Asked, DaemonState } from './daemon-state.ts';

/** An event of the daemon. */
export type ReportedEvent = Pick<EventView, 'transfer' | 'contact' | 'receiver' | 'happened'>;

/** The state after an event. Events that concern no view leave it as it is. */
export function applyEvent(state: DaemonState, reported: ReportedEvent): DaemonState {
  const change = changeBy(state, reported);
  return change === undefined ? state : { ...state, ...change };
}

function changeBy(
  state: DaemonState,
  { transfer, receiver, happened }: ReportedEvent,
): Partial<DaemonState> | undefined {
  const { transfers, questions, contacts, shares, mounts } = state;
  switch (happened?.$case) {
    case 'changed':
      return { transfers: withEntry(transfers, transfer, happened.value) };
    case 'removed':
      return { transfers: without(transfers, transfer) };
    case 'progress': {
      const known = transfers.get(transfer);
      if (known === undefined) return {};
      return { transfers: withEntry(transfers, transfer, progressed(known, happened.value, receiver)) };
    }
    case 'question': {
      const asked = askedBy(happened.value);
      return { questions: [...questions.filter(({ question }) => question !== asked.question), asked] };
    }
    case 'answered':
      return { questions: questions.filter(({ question }) => question !== happened.value.question) };
    case 'contacts':
      return { contacts: happened.value.contacts };
    case 'presence': {
      const { name, online } = happened.value;
      return { contacts: contacts.map((each) => (each.name === name ? { ...each, online } : each)) };
    }
    case 'identity':
      return { renewedIdentity: happened.value.fingerprint };
    case 'share': {
      const share = happened.value;
      const known = shares.some(({ id }) => id === share.id);
      return { shares: known ? shares.map((each) => (each.id === share.id ? share : each)) : [...shares, share] };
    }
    case 'shareEnded':
      return { shares: shares.filter(({ id }) => id !== happened.value.id) };
    case 'mount':
      return { mounts: [...mounts.filter(({ id }) => id !== happened.value.id), happened.value] };
    case 'mountEnded':
      return { mounts: mounts.filter(({ id }) => id !== happened.value.id) };
    case 'settings':
      return { settings: happened.value.settings };
    case 'present':
      return { link: { state: 'live' } };
    default:
      return undefined;
  }
}

/** A question as views take it: its kind, and its fields by name. */
export function askedBy({ question, transfer, about }: QuestionView): Asked {
  return { question, transfer, kind: about?.$case ?? '', about: { ...about?.value } };
}

type Sum = 'files' | 'bytes' | 'totalFiles' | 'totalBytes' | 'bytesPerSecond';

/** With several receivers each has its own figures, and the transfer shows their sum. */
function progressed(known: TransferView, progress: ProgressView, receiver: number | undefined): TransferView {
  const { resumedBytes: _, ...own } = progress;
  if (receiver === undefined) return { ...known, ...own };
  const peers = known.peers.map((peer) => (peer.session === receiver ? { ...peer, ...own } : peer));
  const sum = (name: Sum) => peers.reduce((total, peer) => total + peer[name], 0);
  return {
    ...known,
    peers,
    files: sum('files'),
    bytes: sum('bytes'),
    totalFiles: sum('totalFiles'),
    totalBytes: sum('totalBytes'),
    totalsFinal: peers.every((peer) => peer.totalsFinal),
    bytesPerSecond: sum('bytesPerSecond'),
  };
}

/** Drops progress superseded by a later report in the same batch. */
export function withoutStale(reported: readonly ReportedEvent[]): ReportedEvent[] {
  const seen = new Set<string>();
  const kept = [...reported].reverse().filter(({ happened, transfer, receiver }) => {
    if (happened?.$case !== 'progress') return true;
    const key = `${transfer} ${receiver}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return kept.reverse();
}

function withEntry<V>(map: ReadonlyMap<number, V>, key: number, value: V): ReadonlyMap<number, V> {
  return new Map(map).set(key, value);
}

function without<V>(map: ReadonlyMap<number, V>, key: number): ReadonlyMap<number, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
