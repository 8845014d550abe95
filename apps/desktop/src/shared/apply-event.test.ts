// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { describe, expect, it } from 'vitest';
import { applyEvent, type ReportedEvent, withoutStale } from './apply-event.ts';
import { type DaemonState, NOTHING_REPORTED } from './daemon-state.ts';

const RUNNING = { event: 'transfer', transfer: 1, id: 1, state: 'running', files: 0, bytes: 0, peers: [] };

function after(...reported: ReportedEvent[]): DaemonState {
  return reported.reduce(applyEvent, NOTHING_REPORTED);
}

function progress(transfer: number, bytes: number, more: object = {}): ReportedEvent {
  return { event: 'progress', transfer, files: 1, bytes, totalBytes: 100, bytesPerSecond: 10, ...more };
}

describe('applyEvent', () => {
  it('keeps the last report of each transfer, and drops a removed one', () => {
    const state = after(RUNNING, { ...RUNNING, transfer: 2, id: 2 }, { ...RUNNING, state: 'done' });
    expect([...state.transfers.values()].map(({ id, state: is }) => [id, is])).toEqual([
      [1, 'done'],
      [2, 'running'],
    ]);
    expect([...applyEvent(state, { event: 'removed', transfer: 1 }).transfers.keys()]).toEqual([2]);
  });

  it('updates progress figures and keeps the objects of other transfers', () => {
    const before = after(RUNNING, { ...RUNNING, transfer: 2, id: 2 });
    const state = applyEvent(before, progress(1, 50));
    expect(state.transfers.get(1)).toMatchObject({ bytes: 50, files: 1, bytesPerSecond: 10, state: 'running' });
    expect(state.transfers.get(2)).toBe(before.transfers.get(2));
    expect(applyEvent(state, progress(9, 50))).toEqual(state);
  });

  it('adds up the progress of the receivers of a send', () => {
    const peer = (session: number) => ({ session, files: 0, bytes: 0, totalBytes: 100, bytesPerSecond: 0 });
    const state = after(
      { ...RUNNING, peers: [peer(1), peer(2)] },
      progress(1, 50, { receiver: 1 }),
      progress(1, 20, { receiver: 2 }),
    );
    expect(state.transfers.get(1)).toMatchObject({ bytes: 70, totalBytes: 200, bytesPerSecond: 20 });
    expect(state.transfers.get(1)?.peers.map(({ bytes }) => bytes)).toEqual([50, 20]);
  });

  it('keeps each question once, until it is answered', () => {
    const offer = { event: 'question', transfer: 1, question: 7, kind: 'offer', names: ['a'] };
    const state = after(RUNNING, offer, offer);
    expect(state.questions).toEqual([{ transfer: 1, question: 7, kind: 'offer', about: { names: ['a'] } }]);
    expect(applyEvent(state, { event: 'answered', transfer: 1, question: 7, answer: 'yes' }).questions).toEqual([]);
  });

  it('keeps track of which contacts are online', () => {
    const contacts = [
      { name: 'Ana', online: false },
      { name: 'Bo', online: false },
    ];
    const state = after(
      { event: 'contacts', transfer: 0, contacts },
      { event: 'presence', transfer: 0, contact: 'Bo', online: true },
    );
    expect(state.contacts.map(({ online }) => online)).toEqual([false, true]);
  });

  it('ignores events that no view needs', () => {
    const state = after(RUNNING);
    expect(applyEvent(state, { event: 'mapping', transfer: 1 })).toBe(state);
  });
});

describe('withoutStale', () => {
  it('drops progress superseded by a later report for the same receiver, and keeps the order', () => {
    const reported = [
      progress(1, 10),
      progress(2, 10),
      { ...RUNNING, transfer: 1 },
      progress(1, 20, { receiver: 1 }),
      progress(1, 30, { receiver: 2 }),
      progress(1, 40, { receiver: 1 }),
    ];
    expect(withoutStale(reported).map(({ event, transfer, bytes }) => [event, transfer, bytes])).toEqual([
      ['progress', 1, 10],
      ['progress', 2, 10],
      ['transfer', 1, 0],
      ['progress', 1, 30],
      ['progress', 1, 40],
    ]);
    const all = reported.reduce(applyEvent, NOTHING_REPORTED).transfers.get(1) as TransferView;
    expect(withoutStale(reported).reduce(applyEvent, NOTHING_REPORTED).transfers.get(1)).toEqual(all);
  });
});
