// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { merged } from './nearby-senders.ts';

const LAN = { path: 'lan', name: 'calm-otter', address: '192.168.1.7:26431' };

it('shows an offer once if it is found at several addresses', () => {
  expect(merged([LAN], [{ ...LAN, address: '[fe80::1]:26431' }])).toEqual([LAN]);
});

it('keeps offers without a name apart by their addresses', () => {
  const here = { path: 'local', name: undefined, address: '127.0.0.1:26431' };
  const other = { ...here, address: '127.0.0.1:26432' };
  expect(merged([here], [other, here])).toEqual([here, other]);
});

it('prefers this machine', () => {
  const here = { ...LAN, path: 'local', address: '127.0.0.1:26431' };
  expect(merged([LAN], [here])).toEqual([here]);
});
