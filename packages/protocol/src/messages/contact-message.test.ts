// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, readVectors, toHex } from '../../test/vectors.ts';
import { KeibiError } from '../errors.ts';
import {
  type ContactMessage,
  decodeContactMessage,
  decodeContactOpening,
  encodeContactMessage,
  encodeContactOpening,
  type Invitation,
  type OpeningKind,
} from './contact-message.ts';

interface Vectors {
  messages: { name: string; message: Record<string, unknown>; hex: string }[];
  malformed: { name: string; hex: string }[];
}
const vectors = readVectors<Vectors>('contact-message');
const malformed = expect.objectContaining({ code: 'HANDSHAKE_MALFORMED' });

function messageOf({ id, invitation, ...rest }: Record<string, unknown>): ContactMessage {
  const invited = invitation as (Omit<Invitation, 'id'> & { id: string }) | undefined;
  return {
    ...rest,
    ...(typeof id === 'string' && { id: fromHex(id) }),
    ...(invited && { invitation: { ...invited, id: fromHex(invited.id) } }),
  } as ContactMessage;
}

describe('a message between contacts', () => {
  it.each(vectors.messages)('matches the vector: $name', ({ message, hex }) => {
    expect(toHex(encodeContactMessage(messageOf(message)))).toBe(hex.replaceAll(' ', ''));
    expect(decodeContactMessage(fromHex(hex))).toEqual(messageOf(message));
  });

  it.each(vectors.malformed)('is HANDSHAKE_MALFORMED: $name', ({ hex }) => {
    expect(() => decodeContactMessage(fromHex(hex))).toThrow(malformed);
  });

  it('is refused or decodes to a value that encodes to the same bytes', () => {
    const code = [...fromHex('01 05 372d612d62')];
    const begun = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((id) => [4, ...id, ...code]);
    const anyBegin = fc.oneof(
      begun,
      fc.nat(13).map((kind) => [kind]),
    );
    fc.assert(
      fc.property(anyBegin, fc.uint8Array({ maxLength: 140 }), (begin, rest) => {
        const body = Uint8Array.of(...begin, ...rest);
        try {
          expect(encodeContactMessage(decodeContactMessage(body))).toEqual(body);
        } catch (error) {
          expect(error).toEqual(malformed);
        }
      }),
      { numRuns: 1000 },
    );
  });

  const invitation = { id: new Uint8Array(16), code: '7-a-b', to: 'files', label: '' } as const;

  it('has a label of at most 128 bytes, on both sides', () => {
    const size = { files: 2 ** 32 - 1, bytes: Number.MAX_SAFE_INTEGER };
    const sized = { kind: 'invite', invitation: { ...invitation, size } } as const;
    expect(decodeContactMessage(encodeContactMessage(sized))).toEqual(sized);
    const absurd = encodeContactMessage(sized);
    absurd[absurd.length - 8] = 0xff;
    expect(() => decodeContactMessage(absurd)).toThrow(KeibiError);
    expect(() => decodeContactMessage(absurd.subarray(0, -1))).toThrow(KeibiError);
    const longest = { kind: 'invite', invitation: { ...invitation, label: 'ö'.repeat(64) } } as const;
    const encoded = encodeContactMessage(longest);
    expect(decodeContactMessage(encoded)).toEqual(longest);
    expect(() => decodeContactMessage(Uint8Array.of(...encoded, 0x41))).toThrow(malformed);
    const longer = { kind: 'invite', invitation: { ...invitation, label: `${longest.invitation.label}A` } } as const;
    expect(() => encodeContactMessage(longer)).toThrow(RangeError);
  });

  it('has room for sixteen of the longest words, and rejects a longer code', () => {
    const code = (letters: number) => `123456789${'-'.concat('a'.repeat(letters)).repeat(16)}`;
    const invite = (letters: number) =>
      ({ kind: 'invite', invitation: { ...invitation, code: code(letters) } }) as const;
    expect(decodeContactMessage(encodeContactMessage(invite(8)))).toEqual(invite(8));
    expect(() => encodeContactMessage(invite(32))).toThrow(RangeError);
  });

  const [x25519, kem, proof] = [32, 1568, 32].map((length, i) => new Uint8Array(length).fill(i + 1)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const rotations: [ContactMessage, string, number][] = [
    [{ kind: 'rotate', x25519, kem }, '0801', 1601],
    [{ kind: 'rotate-test', ciphertext: kem }, '0902', 1569],
    [{ kind: 'rotate-proof', proof }, '0a03', 33],
    [{ kind: 'rotated', proof }, '0b03', 33],
    [{ kind: 'rotate-refused', reason: 'final' }, '0c01', 2],
    [{ kind: 'rotate-refused', reason: 'later' }, '0c02', 2],
  ];

  it.each(rotations)('has the layout of PROTOCOL 10.6: $kind', (message, begin, length) => {
    const bytes = encodeContactMessage(message);
    expect([toHex(bytes.subarray(0, 2)), bytes.length]).toEqual([begin, length]);
    expect(decodeContactMessage(bytes)).toEqual(message);
    for (const other of [bytes.subarray(0, -1), Uint8Array.of(...bytes, 0)]) {
      expect(() => decodeContactMessage(other)).toThrow(malformed);
    }
  });

  it.each([0, 3])('rejects the reason %i of a refusal', (reason) => {
    expect(() => decodeContactMessage(Uint8Array.of(12, reason))).toThrow(malformed);
  });

  it('rejects a key or proof of another length', () => {
    expect(() => encodeContactMessage({ kind: 'rotate', x25519: kem, kem })).toThrow(RangeError);
    expect(() => encodeContactMessage({ kind: 'rotated', proof: kem })).toThrow(RangeError);
  });

  it.each([0, 15, 17])('rejects an id of %i bytes', (length) => {
    expect(() => encodeContactMessage({ kind: 'withdraw', id: new Uint8Array(length) })).toThrow(RangeError);
  });
});

describe('a body with which contacts meet', () => {
  const lengths: [OpeningKind, string, number][] = [
    ['keys', '09', 1600],
    ['contact', '0a', 1568],
    ['contact-reply', '0b', 1568],
  ];

  it.each(lengths)('has the layout of PROTOCOL 10.2: %s', (kind, byte, plaintext) => {
    const opening = { kind, nonce: new Uint8Array(32).fill(0x4e), frame: new Uint8Array(plaintext + 32).fill(0xf4) };
    const body = encodeContactOpening(opening);
    expect(toHex(body)).toBe(`${byte}01${'4e'.repeat(32)}${'f4'.repeat(plaintext + 32)}`);
    expect(decodeContactOpening(body, kind)).toEqual(opening);
  });

  it.each(lengths)('is HANDSHAKE_MALFORMED with another length or kind: %s', (kind, byte, plaintext) => {
    const whole = new Uint8Array(34 + plaintext + 32);
    whole.set([Number.parseInt(byte, 16), 1]);
    for (const length of [0, 1, 2, 33, 34, whole.length - 1]) {
      expect(() => decodeContactOpening(whole.subarray(0, length), kind)).toThrow(malformed);
    }
    expect(() => decodeContactOpening(Uint8Array.of(...whole, 0), kind)).toThrow(malformed);
    for (const [other] of lengths.filter(([other]) => other !== kind)) {
      expect(() => decodeContactOpening(whole, other)).toThrow(malformed);
    }
  });

  it('is PEER_NEWER if it has a later version', () => {
    expect(() => decodeContactOpening(Uint8Array.of(9, 2, 1), 'keys')).toThrow(
      expect.objectContaining({ code: 'PEER_NEWER' }),
    );
  });
});
