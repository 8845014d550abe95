// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import {
  BadValue,
  parseCodeLength,
  parseDiscovery,
  parseDuration,
  parseHostPort,
  parseLabel,
  parseListen,
  parseLogLevel,
  parsePath,
  parseRate,
  parseRendezvous,
} from './setting-values.ts';

function table<T>(name: string, parse: (text: string) => T, good: [string, NoInfer<T>][], bad: string[]): void {
  describe(name, () => {
    it.each(good)('parses "%s" as %j', (text, value) => expect(parse(text)).toEqual(value));
    it.each(bad)('refuses "%s"', (text) => {
      expect(() => parse(text)).toThrow(BadValue);
      expect(() => parse(text)).toThrow(/^must be /);
    });
  });
}

table(
  'a rate',
  parseRate,
  [
    ['1', 1],
    ['1000', 1000],
    ['500K', 512_000],
    ['10M', 10 * 2 ** 20],
    ['10m', 10 * 2 ** 20],
    ['1.5G', 1.5 * 2 ** 30],
    ['10 MiB/s', 10 * 2 ** 20],
    ['10MB', 10 * 2 ** 20],
    ['64B/s', 64],
  ],
  ['', '0', '0.5', '-1', '10X', 'K', '1e3', '10 M M', '1T', '99999999999G', '1,5M'],
);

table(
  'an address to dial',
  parseHostPort,
  [
    ['127.0.0.1:1', { host: '127.0.0.1', port: 1 }],
    [' example.org:26431 ', { host: 'example.org', port: 26431 }],
    ['[::1]:65535', { host: '::1', port: 65535 }],
  ],
  ['', '1', 'host', 'host:', 'host:0', 'host:65536', '::1:80', '[::1]', 'host:80/x', ':80', 'a b:80'],
);

table(
  'an address to listen on',
  parseListen,
  [
    ['26431', { host: '::', port: 26431 }],
    [':0', { host: '::', port: 0 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9', { host: '::1', port: 9 }],
    ['localhost:9', { host: 'localhost', port: 9 }],
  ],
  ['', 'host', 'host:', '65536', '::1:80', '[::1]', '-1', 'a b:80'],
);

table(
  'a rendezvous',
  parseRendezvous,
  [
    ['meet.example.org:443', 'meet.example.org:443'],
    ['https://meet.example.org/kd', 'https://meet.example.org/kd'],
  ],
  ['', 'meet.example.org', 'ftp://meet.example.org', 'https://'],
);

table(
  'discovery',
  parseDiscovery,
  [
    ['auto', 'auto'],
    ['off', 'off'],
    ['eth0', { interface: 'eth0' }],
  ],
  ['', 'two words', '../x'],
);

table(
  'a log level',
  parseLogLevel,
  [
    ['warn', 'warn'],
    ['DEBUG', 'debug'],
  ],
  ['', 'loud'],
);

table(
  'a code length',
  parseCodeLength,
  [
    ['2', 2],
    ['16', 16],
  ],
  ['', '1', '17', '2.5', 'two'],
);

table(
  'a time',
  parseDuration,
  [
    ['0', 0],
    ['0s', 0],
    [' 90S ', 90_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
  ],
  ['', '5', '-1s', '1.5h', '31d', '1w', 'soon'],
);

table(
  'a label',
  parseLabel,
  [
    [' my laptop ', 'my laptop'],
    ['é'.repeat(64), 'é'.repeat(64)],
  ],
  ['', ' ', 'é'.repeat(65), 'a\u001bb'],
);

table('a path', parsePath, [['a b', 'a b']], ['', 'a\0b']);
