// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { eventJson } from './event-json.ts';
import type { PeerEvent, TriedWay } from './events.ts';

const counts = { files: 3, bytes: 4096, skipped: 1, resumedBytes: 1024, seconds: 0.12345 };
const TRIED: TriedWay = { transport: 'direct', address: '[::1]:9', code: 'PEER_UNREACHABLE', reason: 'refused' };
const one = { verbose: true, receivers: false };

describe('the objects of docs/cli.md', () => {
  const table: [PeerEvent, object][] = [
    [
      { type: 'code', code: '7-a-b' },
      { event: 'code', code: '7-a-b' },
    ],
    [
      { type: 'waiting', host: '127.0.0.1', port: 9 },
      { event: 'waiting', host: '127.0.0.1', port: 9 },
    ],
    [
      { type: 'connected', path: 'local', suite: 'aes-256-gcm', peer: 'bob', session: 1 },
      { event: 'connected', path: 'local', suite: 'aes-256-gcm', peer: 'bob' },
    ],
    [
      { type: 'connected', path: 'relay', suite: 'aes-256-gcm', peer: 'bob', session: 1, tried: [TRIED] },
      { event: 'connected', path: 'relay', suite: 'aes-256-gcm', peer: 'bob', tried: [TRIED] },
    ],
    [
      { type: 'connected', path: 'direct', suite: 'aes-256-gcm', peer: 'bob', session: 1, tried: [] },
      { event: 'connected', path: 'direct', suite: 'aes-256-gcm', peer: 'bob' },
    ],
    [
      { type: 'offer', files: 1, directories: 2, symlinks: 3, bytes: 4 },
      { event: 'offer', files: 1, bytes: 4 },
    ],
    [
      {
        type: 'progress',
        session: 1,
        files: 1,
        bytes: 2,
        totalFiles: 3,
        totalBytes: 4,
        totalsFinal: true,
        bytesPerSecond: 5.6,
        file: 'a/b',
      },
      { event: 'progress', files: 1, bytes: 2, totalBytes: 4, bytesPerSecond: 6, file: 'a/b' },
    ],
    [
      { type: 'file', path: 'a/b', session: 1 },
      { event: 'file', path: 'a/b' },
    ],
    [
      { type: 'failed', path: 'a', code: 'TRANSFER_SOURCE_CHANGED', message: 'm', session: 1 },
      { event: 'failed', path: 'a', code: 'TRANSFER_SOURCE_CHANGED', message: 'm' },
    ],
    [
      { type: 'text', text: 'a\nb' },
      { event: 'text', text: 'a\nb' },
    ],
    [
      { type: 'warning', message: 'm', path: 'p' },
      { event: 'warning', message: 'm', path: 'p' },
    ],
    [
      { type: 'wrongCode', remaining: 2 },
      { event: 'wrongCode', remaining: 2 },
    ],
    [
      { type: 'receiverLost', session: 1, peer: 'bob', code: 'SESSION_LOST', message: 'm', mayReturn: true },
      { event: 'receiverLost', peer: 'bob', code: 'SESSION_LOST', message: 'm', mayReturn: true },
    ],
    [
      { type: 'paused', paused: true, by: 'peer', session: 1 },
      { event: 'paused', paused: true, by: 'peer' },
    ],
    [
      { type: 'reconnecting', reason: 'The connection was lost.', attempt: 2, nextInMs: 500 },
      { event: 'reconnecting', reason: 'The connection was lost.', attempt: 2, nextInMs: 500 },
    ],
    [
      { type: 'done', failed: 0, ...counts },
      { event: 'done', ...counts, seconds: 0.123 },
    ],
  ];
  it.each(table)('%j', (event, json) => {
    expect(JSON.stringify(eventJson(event, one))).toBe(JSON.stringify(json));
  });
});

it('names files only on request', () => {
  expect(eventJson({ type: 'file', path: 'a', session: 1 }, { verbose: false, receivers: false })).toBeUndefined();
});

it('omits done if something failed', () => {
  expect(eventJson({ type: 'done', failed: 1, ...counts }, one)).toBeUndefined();
});

it('names the receiver of an object if there may be several', () => {
  const json = eventJson({ type: 'file', path: 'a', session: 4 }, { verbose: true, receivers: true });
  expect(json).toEqual({ event: 'file', path: 'a', receiver: 4 });
});

it('reports each receiver only if there may be several', () => {
  const event: PeerEvent = { type: 'receiverDone', session: 4, peer: 'bob', failed: 0, ...counts };
  expect(eventJson(event, one)).toBeUndefined();
  const json = eventJson(event, { verbose: false, receivers: true });
  const expected = { event: 'receiverDone', peer: 'bob', ...counts, seconds: 0.123, failed: 0, receiver: 4 };
  expect(json).toEqual(expected);
});
