// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { formatHostPort, parseHostPort, parseRendezvous } from '../src/index.ts';

describe('HOST:PORT', () => {
  it.each([
    ['127.0.0.1:26431', '127.0.0.1', 26_431],
    ['[::1]:1', '::1', 1],
    ['[fe80::1%eth0]:65535', 'fe80::1%eth0', 65_535],
    ['peer.example:80', 'peer.example', 80],
    ['localhost:9', 'localhost', 9],
  ])('reads %s and writes it the same', (text, host, port) => {
    expect(parseHostPort(text)).toEqual({ host, port });
    expect(formatHostPort({ host, port })).toBe(text);
  });

  it.each([
    '',
    'host',
    'host:',
    ':1',
    'host:0',
    'host:65536',
    '::1:80',
    '[::1]',
    '[name]:1',
    'a b:1',
    'host:1:2',
    'http://h:1',
  ])('refuses %j and shows how it is written', (text) => {
    expect(() => parseHostPort(text)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('192.0.2.1:26431') }),
    );
  });
});

describe('a rendezvous', () => {
  it.each([
    ['name:1', { host: 'name', port: 1 }],
    ['http://name:1/x', { host: 'name', port: 1 }],
    ['https://name', { host: 'name', port: 443, tls: true }],
    ['https://name:1', { host: 'name', port: 1, tls: true }],
    ['tls://name', { host: 'name', port: 26_431, tls: true }],
    ['tls://[::1]:2', { host: '::1', port: 2, tls: true }],
  ])('%s is dialled as it says', (text, place) => {
    expect(parseRendezvous(text)).toEqual(place);
  });
});
