// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCandidates, encodeCandidates, MAX_CANDIDATES } from './candidate.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const local = { transport: 'local', host: '127.0.0.1', port: 26431 };
const relay = { transport: 'relay', host: 'meet.example.org', port: 26431, token: 'ab'.repeat(32) };

describe('candidates', () => {
  it('are JSON in the form of PROTOCOL 2.2', () => {
    expect(new TextDecoder().decode(encodeCandidates([local]))).toBe(
      '{"v":1,"candidates":[{"transport":"local","host":"127.0.0.1","port":26431}]}',
    );
  });

  it('of a relay carry the token of the two connections it joins', () => {
    expect(new TextDecoder().decode(encodeCandidates([relay]))).toContain(`"port":26431,"token":"${'ab'.repeat(32)}"}`);
    expect(decodeCandidates(encodeCandidates([local, relay]))).toEqual([local, relay]);
  });

  it('are read back unchanged', () => {
    const candidate = fc.record({
      transport: fc.stringMatching(/^[a-z][a-z-]{0,31}$/).filter((name) => name !== 'relay'),
      host: fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()),
      port: fc.integer({ min: 1, max: 65535 }),
    });
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: MAX_CANDIDATES }), (candidates) => {
        expect(decodeCandidates(encodeCandidates(candidates))).toEqual(candidates);
      }),
    );
  });

  it('may have unknown fields, which are ignored', () => {
    const text = JSON.stringify({ v: 1, candidates: [{ ...local, priority: 3, token: 'x' }], later: true });
    expect(decodeCandidates(bytes(text))).toEqual([local]);
  });

  it('are limited to the number that a peer takes', () => {
    const many = Array.from({ length: MAX_CANDIDATES + 5 }, () => local);
    expect(decodeCandidates(encodeCandidates(many)).length).toBe(MAX_CANDIDATES);
  });

  it.each([
    ['not JSON', '{'],
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['another version', '{"v":2,"candidates":[]}'],
    ['no list', '{"v":1}'],
    ['a list of strings', '{"v":1,"candidates":["127.0.0.1:1"]}'],
    ['too many', JSON.stringify({ v: 1, candidates: Array.from({ length: MAX_CANDIDATES + 1 }, () => local) })],
    ...[
      { ...local, port: 0 },
      { ...local, port: 65536 },
      { ...local, port: 1.5 },
      { ...local, port: '80' },
      { ...local, host: '' },
      { ...local, host: 'a b' },
      { ...local, host: '\u001b[2J' },
      { ...local, host: 'a'.repeat(256) },
      { ...local, transport: '' },
      { ...local, transport: 'Local' },
      { host: 'a', port: 1 },
      { ...local, transport: 'relay' },
      { ...relay, token: 'AB'.repeat(32) },
      { ...relay, token: 'ab'.repeat(31) },
      { ...relay, token: 7 },
    ].map((candidate) => ['a bad candidate', JSON.stringify({ v: 1, candidates: [candidate] })]),
  ])('are HANDSHAKE_MALFORMED when they are %s: %s', (_, text) => {
    expect(() => decodeCandidates(bytes(text as string))).toThrow(
      expect.objectContaining({ code: 'HANDSHAKE_MALFORMED' }),
    );
  });

  it('are HANDSHAKE_MALFORMED when they are not UTF-8', () => {
    expect(() => decodeCandidates(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(
      expect.objectContaining({ code: 'HANDSHAKE_MALFORMED' }),
    );
  });
});
