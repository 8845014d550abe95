// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import type { Intent } from '../shared/api.ts';
import { intentOfLink, openingOf } from './opening.ts';

const FINGERPRINT = `${'aB3_-'.repeat(17)}A`;
const anything = () => true;

describe('a link', () => {
  it.each<[string, Intent | undefined]>([
    ['keibidrop://receive/7-guitar-pencil', { kind: 'receive', code: '7-guitar-pencil' }],
    ['keibidrop://receive/7-Guitar-PENCIL/', { kind: 'receive', code: '7-guitar-pencil' }],
    ['KEIBIDROP://RECEIVE/7-guitar-pencil', { kind: 'receive', code: '7-guitar-pencil' }],
    [`keibidrop://id/${FINGERPRINT}`, { kind: 'contact', fingerprint: FINGERPRINT }],
    ['keibidrop://receive/', undefined],
    ['keibidrop://receive/7-guitar', undefined],
    ['keibidrop://receive/guitar-pencil-7', undefined],
    ['keibidrop://receive/7-guitar-pencil?out=/etc', undefined],
    ['keibidrop://receive/7-guitar-pencil#x', undefined],
    ['keibidrop://receive/../7-guitar-pencil', undefined],
    ['keibidrop://receive/7-guitar-%70encil', undefined],
    ['keibidrop://send//etc/passwd', undefined],
    ['keibidrop://id/short', undefined],
    [`keibidrop://id/${FINGERPRINT.slice(1)}!`, undefined],
    ['https://example.org/receive/7-guitar-pencil', undefined],
    [`keibidrop://receive/7-${'a-'.repeat(2000)}b`, undefined],
  ])('%s', (link, intent) => {
    expect(intentOfLink(link)).toEqual(intent);
  });
});

describe('a command line', () => {
  it.each<[string, string[], Intent[]]>([
    ['with no arguments', [], []],
    ['with files', ['a.txt', '/b'], [{ kind: 'send', paths: ['/here/a.txt', '/b'] }]],
    ['with a file twice', ['a.txt', './a.txt'], [{ kind: 'send', paths: ['/here/a.txt'] }]],
    ['from a file manager', ['file:///home/me/a%20b.txt'], [{ kind: 'send', paths: ['/home/me/a b.txt'] }]],
    ['with a file on another machine', ['file://other/share/a.txt'], []],
    ['with a web address', ['https://example.org/a.txt'], []],
    [
      'with options',
      ['--no-sandbox', '--original-process-start-time=1', 'a.txt'],
      [{ kind: 'send', paths: ['/here/a.txt'] }],
    ],
    ['with a link', ['keibidrop://receive/7-guitar-pencil'], [{ kind: 'receive', code: '7-guitar-pencil' }]],
    ['with an invalid link', ['keibidrop://receive/x'], []],
  ])('%s', (_what, args, intents) => {
    expect(openingOf(args, '/here', anything)).toEqual({ intents, hidden: false });
  });

  it('with missing files opens only those that exist', () => {
    expect(openingOf(['a', 'b'], '/here', (path) => path === '/here/b').intents).toEqual([
      { kind: 'send', paths: ['/here/b'] },
    ]);
  });

  it('at login stays in the tray', () => {
    expect(openingOf(['--hidden'], '/here', anything)).toEqual({ intents: [], hidden: true });
  });
});
