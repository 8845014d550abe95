// SPDX-License-Identifier: MPL-2.0
import type { ContactView, SettingView, ShareView, TransferView } from '@keibidrop/peer/local';
import type { Asked, Connection, DaemonState } from './daemon-state.ts';

/** An event of the daemon (proto/local.proto, Event) with its JSON read. */
export interface Told {
  /** 0: of none. */
  readonly transfer: number;
  readonly event: string;
  readonly [field: string]: unknown;
}

type Change = (state: DaemonState, told: Told) => Partial<DaemonState>;

/** What each event changes. Those of no interest to any view are not here. */
const CHANGES: Readonly<Record<string, Change>> = {
  transfer: ({ transfers }, told) => ({ transfers: withEntry(transfers, told.transfer, fieldsOf<TransferView>(told)) }),
  removed: ({ transfers, connections }, { transfer }) => ({
    transfers: without(transfers, transfer),
    connections: without(connections, transfer),
  }),
  progress: ({ transfers }, told) => {
    const known = transfers.get(told.transfer);
    // With several receivers each has its own; the daemon's figures of the whole come with `transfer`.
    if (known === undefined || 'receiver' in told) return {};
    const { files, bytes, totalBytes, bytesPerSecond } = told as unknown as TransferView;
    return { transfers: withEntry(transfers, told.transfer, { ...known, files, bytes, totalBytes, bytesPerSecond }) };
  },
  connected: ({ connections }, told) => {
    const connection = connectionOf(told);
    const others = (connections.get(told.transfer) ?? []).filter(({ receiver }) => receiver !== connection.receiver);
    return { connections: withEntry(connections, told.transfer, [...others, connection]) };
  },
  question: ({ questions }, told) => {
    const { transfer, question, kind, event: _, ...about } = told;
    const asked = { transfer, question: question as number, kind: kind as string, about } satisfies Asked;
    return { questions: [...questions.filter((each) => each.question !== asked.question), asked] };
  },
  answered: ({ questions }, { question }) => ({ questions: questions.filter((each) => each.question !== question) }),
  contacts: (_, { contacts }) => ({ contacts: contacts as ContactView[] }),
  presence: ({ contacts }, { contact, online }) => ({
    contacts: contacts.map((each) => (each.name === contact ? { ...each, online: online === true } : each)),
  }),
  share: ({ shares }, told) => {
    const share = fieldsOf<ShareView>(told);
    const known = shares.some(({ id }) => id === share.id);
    return { shares: known ? shares.map((each) => (each.id === share.id ? share : each)) : [...shares, share] };
  },
  shareEnded: ({ shares }, { id }) => ({ shares: shares.filter((share) => share.id !== id) }),
  settings: (_, { settings }) => ({ settings: settings as SettingView[] }),
  present: () => ({ link: { state: 'live' } }),
};

/** The state after an event. */
export function applyEvent(state: DaemonState, told: Told): DaemonState {
  const change = CHANGES[told.event]?.(state, told);
  return change === undefined ? state : { ...state, ...change };
}

function fieldsOf<T>({ event: _, transfer: __, ...fields }: Told): T {
  return fields as T;
}

function connectionOf(told: Told): Connection {
  return {
    receiver: typeof told.receiver === 'number' ? told.receiver : 0,
    path: String(told.path ?? ''),
    suite: String(told.suite ?? ''),
    peer: typeof told.peer === 'string' ? told.peer : undefined,
    verified: typeof told.verified === 'boolean' ? told.verified : undefined,
    tried: Array.isArray(told.tried) ? told.tried : [],
  };
}

function withEntry<V>(map: ReadonlyMap<number, V>, key: number, value: V): ReadonlyMap<number, V> {
  return new Map(map).set(key, value);
}

function without<V>(map: ReadonlyMap<number, V>, key: number): ReadonlyMap<number, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
