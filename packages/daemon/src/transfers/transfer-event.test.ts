// SPDX-License-Identifier: MPL-2.0
import type { PeerEvent } from '@keibidrop/peer';
import { local } from '@keibidrop/proto';
import { describe, expect, it } from 'vitest';
import { transferEvent } from './transfer-event.ts';

const counts = { files: 3, bytes: 2 ** 40, skipped: 1, resumedBytes: 5, seconds: 1.2345 };
const sizes = { files: 1, bytes: 2, totalFiles: 3, totalBytes: 4, totalsFinal: true };
const way = { transport: 'direct', address: '[::1]:9', code: 'PEER_UNREACHABLE', reason: 'refused' } as const;

const EVENTS: PeerEvent[] = [
  { type: 'code', code: '7-guitar-pencil' },
  { type: 'inviting', contact: 'Ann', state: 'asked' },
  { type: 'waiting', host: '::', port: 26431 },
  { type: 'rendezvous', state: 'open', address: 'h:1', relay: true },
  { type: 'mapping', state: 'failed', message: 'no router' },
  { type: 'looking' },
  { type: 'connected', path: 'lan', suite: 'aes-256-gcm', peer: 'bob', session: 2, verified: false, tried: [way] },
  { type: 'reconnecting', reason: 'lost', attempt: 1, nextInMs: 500 },
  { type: 'paused', paused: true, by: 'peer', session: 2 },
  { type: 'offer', files: 1, directories: 2, symlinks: 3, bytes: 4 },
  { type: 'progress', session: 2, ...sizes, bytesPerSecond: 5.6, resumedBytes: 0 },
  { type: 'file', path: 'a/b', session: 2 },
  { type: 'failed', path: 'a', code: 'TRANSFER_SOURCE_CHANGED', message: 'm', session: 2 },
  { type: 'text', text: 'a\nb' },
  { type: 'warning', message: 'm', path: 'a', count: 2, names: ['x', 'y'] },
  { type: 'saved', contact: 'Ann', fingerprint: 'f' },
  { type: 'wrongCode', remaining: 2 },
  { type: 'receiverLost', session: 2, peer: 'bob', code: 'SESSION_LOST', message: 'm', mayReturn: true },
  { type: 'receiverDone', session: 2, peer: 'bob', failed: 0, ...counts },
  { type: 'done', failed: 0, ...counts },
];

describe('transferEvent', () => {
  it.each(EVENTS.map((event) => [event.type, event] as const))('of %s reaches clients unchanged', (type, event) => {
    const emitted = transferEvent(event, true);
    const sent = { sequence: 1, transfer: 7, contact: undefined, receiver: undefined, happened: undefined, ...emitted };
    const read = local.Event.decode(local.Event.encode(sent).finish());
    expect(read).toEqual(sent);
    expect(read.happened?.$case).toBe(type);
    expect(read.receiver).toBe('session' in event ? 2 : undefined);
    expect(read.contact).toBe('contact' in event ? 'Ann' : undefined);
  });

  it('leaves out the number of the only receiver, and events without a reader', () => {
    const [progress] = EVENTS.filter(({ type }) => type === 'progress');
    expect(progress && transferEvent(progress, false)?.receiver).toBeUndefined();
    expect(
      transferEvent({ type: 'receiverDone', session: 1, peer: 'bob', failed: 0, ...counts }, false),
    ).toBeUndefined();
    expect(transferEvent({ type: 'done', ...counts, failed: 1 }, true)).toBeUndefined();
    expect(transferEvent({ type: 'accepted', session: 1 }, true)).toBeUndefined();
  });
});
