// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { awaitsReceivers, secondsLeft, shareOf } from './transfer-progress.ts';

const HALF = { state: 'running', bytes: 50, totalBytes: 100, totalsFinal: true, bytesPerSecond: 10 };

describe('shareOf', () => {
  it.each([
    ['half done', {}, 0.5],
    ['unknown size', { totalBytes: 0, bytes: 0, totalsFinal: false }, undefined],
    ['running with empty files', { totalBytes: 0, bytes: 0 }, 1],
    ['waiting with empty files', { totalBytes: 0, bytes: 0, state: 'waiting' }, undefined],
    ['done', { state: 'done', totalBytes: 0, bytes: 0 }, 1],
    ['failed at half', { state: 'failed' }, 0.5],
    ['more than announced', { bytes: 101 }, 1],
  ])('of %s', (_what, change, expected) => {
    expect(shareOf({ ...HALF, ...change })).toBe(expected);
  });
});

describe('secondsLeft', () => {
  it.each([
    ['at its speed', {}, 5],
    ['while it is paused', { state: 'paused' }, undefined],
    ['while the sender still counts', { totalsFinal: false }, undefined],
    ['while nothing moves', { bytesPerSecond: 0 }, undefined],
    ['with more than announced', { bytes: 101 }, 0],
  ])('%s', (_what, change, expected) => {
    expect(secondsLeft({ ...HALF, ...change })).toBe(expected);
  });
});

describe('awaitsReceivers', () => {
  const send = {
    state: 'running',
    code: '7-guitar-pencil',
    contact: undefined,
    receivers: 2,
    peers: [{ state: 'connected' }],
  };
  it.each([
    ['one of two has joined', {}, true],
    ['both have joined', { peers: [{ state: 'connected' }, { state: 'lost' }] }, false],
    ['one of them has failed', { peers: [{ state: 'connected' }, { state: 'failed' }] }, true],
    ['any number may join', { receivers: 0 }, true],
    ['no receiver has joined yet', { receivers: 1, state: 'waiting', peers: [] }, true],
    ['the only receiver has joined', { receivers: 1 }, false],
    ['it has ended', { state: 'done', code: undefined }, false],
    ['it is paused', { state: 'paused' }, true],
    ['it waits for a contact', { state: 'waiting', contact: 'Ben', peers: [] }, false],
  ])('when %s', (_when, change, expected) => {
    expect(awaitsReceivers({ ...send, ...change })).toBe(expected);
  });
});
