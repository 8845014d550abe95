// SPDX-License-Identifier: MPL-2.0
import type { ContactView, MountView, SettingView, ShareView, TransferView } from '@keibidrop/daemon/local';
import type { Asked, DaemonState } from './daemon-state.ts';

/** An event of the daemon (proto/local.proto, Event) with its JSON read. */
export interface ReportedEvent {
  /** 0: the event belongs to no transfer. */
  readonly transfer: number;
  readonly event: string;
  readonly [field: string]: unknown;
}

type Change = (state: DaemonState, reported: ReportedEvent) => Partial<DaemonState>;

/** The state change for each event. Other events concern no view. */
const CHANGES: Readonly<Record<string, Change>> = {
  transfer: ({ transfers }, reported) => ({
    transfers: withEntry(transfers, reported.transfer, fieldsOf<TransferView>(reported)),
  }),
  removed: ({ transfers }, { transfer }) => ({ transfers: without(transfers, transfer) }),
  progress: ({ transfers }, reported) => {
    const known = transfers.get(reported.transfer);
    return known === undefined
      ? {}
      : { transfers: withEntry(transfers, reported.transfer, progressed(known, reported)) };
  },
  question: ({ questions }, reported) => {
    const { transfer, question, kind, event: _, ...about } = reported;
    const asked = { transfer, question: question as number, kind: kind as string, about } satisfies Asked;
    return { questions: [...questions.filter((each) => each.question !== asked.question), asked] };
  },
  answered: ({ questions }, { question }) => ({ questions: questions.filter((each) => each.question !== question) }),
  contacts: (_, { contacts }) => ({ contacts: contacts as ContactView[] }),
  presence: ({ contacts }, { contact, online }) => ({
    contacts: contacts.map((each) => (each.name === contact ? { ...each, online: online === true } : each)),
  }),
  identity: (_, { fingerprint }) => ({ renewedIdentity: fingerprint as string }),
  share: ({ shares }, reported) => {
    const share = fieldsOf<ShareView>(reported);
    const known = shares.some(({ id }) => id === share.id);
    return { shares: known ? shares.map((each) => (each.id === share.id ? share : each)) : [...shares, share] };
  },
  shareEnded: ({ shares }, { id }) => ({ shares: shares.filter((share) => share.id !== id) }),
  mount: ({ mounts }, reported) => {
    const mount = fieldsOf<MountView>(reported);
    return { mounts: [...mounts.filter(({ id }) => id !== mount.id), mount] };
  },
  mountEnded: ({ mounts }, { id }) => ({ mounts: mounts.filter((mount) => mount.id !== id) }),
  settings: (_, { settings }) => ({ settings: settings as SettingView[] }),
  present: () => ({ link: { state: 'live' } }),
};

/** The state after an event. */
export function applyEvent(state: DaemonState, reported: ReportedEvent): DaemonState {
  const change = CHANGES[reported.event]?.(state, reported);
  return change === undefined ? state : { ...state, ...change };
}

function fieldsOf<T>({ event: _, transfer: __, ...fields }: ReportedEvent): T {
  return fields as T;
}

type Figures = Pick<TransferView, 'files' | 'bytes' | 'totalFiles' | 'totalBytes' | 'totalsFinal' | 'bytesPerSecond'>;
type Sum = 'files' | 'bytes' | 'totalFiles' | 'totalBytes' | 'bytesPerSecond';

/** With several receivers each has its own figures, and the transfer shows their sum. */
function progressed(known: TransferView, reported: ReportedEvent): TransferView {
  const { files, bytes, totalFiles, totalBytes, totalsFinal, bytesPerSecond } = reported as unknown as Figures;
  const own = { files, bytes, totalFiles, totalBytes, totalsFinal, bytesPerSecond };
  if (typeof reported.receiver !== 'number') return { ...known, ...own };
  const peers = known.peers.map((peer) => (peer.session === reported.receiver ? { ...peer, ...own } : peer));
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
  const kept = [...reported].reverse().filter(({ event, transfer, receiver }) => {
    if (event !== 'progress') return true;
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
