// SPDX-License-Identifier: MPL-2.0
import type { ContactView, ProgressView, TransferPeerView, TransferView } from '@keibidrop/daemon/local';
import { describe, expect, it } from 'vitest';
import { applyEvent, type ReportedEvent, withoutStale } from './apply-event.ts';
import { type DaemonState, NOTHING_REPORTED } from './daemon-state.ts';

const RUNNING = { id: 1, state: 'running', files: 0, bytes: 0, peers: [] as TransferPeerView[] } as TransferView;

function changed(fields: Partial<TransferView> = {}): ReportedEvent {
  const value = { ...RUNNING, ...fields };
  return { transfer: value.id, happened: { $case: 'changed', value } };
}

function after(...reported: ReportedEvent[]): DaemonState {
  return reported.reduce(applyEvent, NOTHING_REPORTED);
}

const FIGURES: ProgressView = {
  files: 1,
  bytes: 0,
  totalFiles: 1,
  totalBytes: 100,
  totalsFinal: true,
  bytesPerSecond: 10,
  resumedBytes: undefined,
};

function progress(transfer: number, bytes: number, receiver?: number): ReportedEvent {
  return { transfer, receiver, happened: { $case: 'progress', value: { ...FIGURES, bytes } } };
}

describe('applyEvent', () => {
  it('keeps the last report of each transfer, and drops a removed one', () => {
    const state = after(changed(), changed({ id: 2 }), changed({ state: 'done' }));
    expect([...state.transfers.values()].map(({ id, state: is }) => [id, is])).toEqual([
      [1, 'done'],
      [2, 'running'],
    ]);
    expect([...applyEvent(state, { transfer: 1, happened: { $case: 'removed', value: {} } }).transfers.keys()]).toEqual(
      [2],
    );
  });

  it('updates progress figures and keeps the objects of other transfers', () => {
    const before = after(changed(), changed({ id: 2 }));
    const state = applyEvent(before, progress(1, 50));
    expect(state.transfers.get(1)).toMatchObject({ bytes: 50, files: 1, bytesPerSecond: 10, state: 'running' });
    expect(state.transfers.get(2)).toBe(before.transfers.get(2));
    expect(applyEvent(state, progress(9, 50))).toEqual(state);
  });

  it('adds up the progress of the receivers of a send', () => {
    const peer = (session: number) => ({ session, ...FIGURES, bytesPerSecond: 0 }) as TransferPeerView;
    const state = after(changed({ peers: [peer(1), peer(2)] }), progress(1, 50, 1), progress(1, 20, 2));
    expect(state.transfers.get(1)).toMatchObject({ bytes: 70, totalBytes: 200, bytesPerSecond: 20 });
    expect(state.transfers.get(1)?.peers.map(({ bytes }) => bytes)).toEqual([50, 20]);
  });

  it('keeps each question once, until it is answered', () => {
    const about = { $case: 'collision', value: { file: 'a', place: '/in' } } as const;
    const asked: ReportedEvent = {
      transfer: 1,
      happened: { $case: 'question', value: { question: 7, transfer: 1, about } },
    };
    const state = after(changed(), asked, asked);
    expect(state.questions).toEqual([
      { transfer: 1, question: 7, kind: 'collision', about: { file: 'a', place: '/in' } },
    ]);
    const answered = { $case: 'answered', value: { question: 7, answer: 'skip' } } as const;
    expect(applyEvent(state, { transfer: 1, happened: answered }).questions).toEqual([]);
  });

  it('keeps track of which contacts are online', () => {
    const contacts = [
      { name: 'Ana', online: false },
      { name: 'Bo', online: false },
    ] as ContactView[];
    const state = after(
      { transfer: 0, happened: { $case: 'contacts', value: { contacts } } },
      { transfer: 0, happened: { $case: 'presence', value: { name: 'Bo', online: true } } },
    );
    expect(state.contacts.map(({ online }) => online)).toEqual([false, true]);
  });

  it('ignores events that no view needs', () => {
    const state = after(changed());
    expect(applyEvent(state, { transfer: 1, happened: { $case: 'looking', value: {} } })).toBe(state);
  });
});

describe('withoutStale', () => {
  it('drops progress superseded by a later report for the same receiver, and keeps the order', () => {
    const reported = [
      progress(1, 10),
      progress(2, 10),
      changed(),
      progress(1, 20, 1),
      progress(1, 30, 2),
      progress(1, 40, 1),
    ];
    expect(withoutStale(reported)).toEqual([0, 1, 2, 4, 5].map((index) => reported[index]));
    const all = reported.reduce(applyEvent, NOTHING_REPORTED).transfers.get(1) as TransferView;
    expect(withoutStale(reported).reduce(applyEvent, NOTHING_REPORTED).transfers.get(1)).toEqual(all);
  });
});
