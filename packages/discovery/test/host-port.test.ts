// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { formatHostPort, parseHostPort } from '../src/index.ts';

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
