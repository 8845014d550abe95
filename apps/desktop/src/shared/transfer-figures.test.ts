// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { awaitsReceivers, secondsLeft, shareOf } from './transfer-figures.ts';

const HALF = { state: 'running', bytes: 50, totalBytes: 100, totalsFinal: true, bytesPerSecond: 10 };

describe('shareOf', () => {
  it.each([
    ['half of it', {}, 0.5],
    ['nothing that is known', { totalBytes: 0, bytes: 0, totalsFinal: false }, undefined],
    ['empty files that run', { totalBytes: 0, bytes: 0 }, 1],
    ['empty files that wait', { totalBytes: 0, bytes: 0, state: 'waiting' }, undefined],
    ['what is done', { state: 'done', totalBytes: 0, bytes: 0 }, 1],
    ['what has stopped at the half', { state: 'failed' }, 0.5],
    ['more than was said', { bytes: 101 }, 1],
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
    ['with more than was said', { bytes: 101 }, 0],
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
    ['one of two is there', {}, true],
    ['both are there', { peers: [{ state: 'connected' }, { state: 'lost' }] }, false],
    ['one of them has failed', { peers: [{ state: 'connected' }, { state: 'failed' }] }, true],
    ['any number may come', { receivers: 0 }, true],
    ['nobody has come yet', { receivers: 1, state: 'waiting', peers: [] }, true],
    ['the only one is there', { receivers: 1 }, false],
    ['it has ended', { state: 'done', code: undefined }, false],
    ['it is held', { state: 'paused' }, true],
    ['it waits for a contact', { state: 'waiting', contact: 'Ben', peers: [] }, false],
  ])('when %s', (_when, change, expected) => {
    expect(awaitsReceivers({ ...send, ...change })).toBe(expected);
  });
});
