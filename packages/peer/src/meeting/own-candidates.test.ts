// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { type OwnPort, ownCandidates } from './own-candidates.ts';

const listening = { host: '0.0.0.0', port: 26431 };
const candidates = (port: OwnPort) => ownCandidates(port, ['192.168.1.2']);
const lan = { transport: 'direct', host: '192.168.1.2', port: 26431 };
const guess = { transport: 'direct', host: '198.51.100.1', port: 26431 };
const seenAt = (port: number, fromPort: number) => ({ host: '198.51.100.1', port, fromPort });

describe('the candidates of a sender', () => {
  it.each([
    ['nothing', undefined, []],
    [
      'the listening port, under another number',
      seenAt(7, 26431),
      [guess, { transport: 'punched', host: guess.host, port: 7 }],
    ],
    ['another port that kept its number', seenAt(9, 9), [guess, { ...guess, transport: 'punched' }]],
    ['another port that did not', seenAt(7, 9), [guess]],
    ['this machine', { host: '127.0.0.1', port: 9, fromPort: 9 }, []],
  ])('adds what follows from a server that sees %s', (_, observed, more) => {
    expect(candidates({ listening, observed })).toEqual([lan, ...more]);
  });

  it('omit ports that a router may forward elsewhere, if it listens on one address only', () => {
    const bound = { host: '192.168.1.2', port: 26431 };
    expect(candidates({ listening: bound, observed: seenAt(7, 26431), mapped: guess })).toEqual([lan]);
  });

  it('name a mapped port once, and as mapped', () => {
    const mapped = { host: guess.host, port: 26431 };
    const punched = { transport: 'punched', host: guess.host, port: 7 };
    const observed = seenAt(7, 26431);
    expect(candidates({ listening, observed, mapped })).toEqual([lan, { transport: 'mapped', ...mapped }, punched]);
    expect(candidates({ listening, observed, mapped: { ...mapped, port: 8 } })).toEqual([
      lan,
      { transport: 'mapped', host: guess.host, port: 8 },
      guess,
      punched,
    ]);
  });
});
