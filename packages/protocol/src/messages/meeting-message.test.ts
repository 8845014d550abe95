// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, readVectors, toHex } from '../../test/vectors.ts';
import { decodeMeetingMessage, encodeMeetingMessage, type MeetingMessage } from './meeting-message.ts';

interface Vectors {
  messages: { name: string; message: Record<string, string | number>; hex: string }[];
  otherVersion: { name: string; hex: string; code: string; remote: boolean }[];
  malformed: { name: string; hex: string }[];
}
const vectors = readVectors<Vectors>('meeting-message');
const malformed = expect.objectContaining({ code: 'HANDSHAKE_MALFORMED' });
const refused = expect.objectContaining({
  code: expect.stringMatching(/^(HANDSHAKE_MALFORMED|PEER_NEWER|PEER_OLDER)$/),
});

function messageOf(fields: Record<string, string | number>): MeetingMessage {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'number' || name === 'kind' || name === 'refusal' ? value : fromHex(value),
  ]);
  return Object.fromEntries(entries) as MeetingMessage;
}

describe('a body of the meeting', () => {
  it.each(vectors.messages)('matches the vector: $name', ({ message, hex }) => {
    expect(toHex(encodeMeetingMessage(messageOf(message)))).toBe(hex.replaceAll(' ', ''));
    expect(decodeMeetingMessage(fromHex(hex))).toEqual(messageOf(message));
  });

  it.each(vectors.malformed)('is HANDSHAKE_MALFORMED: $name', ({ hex }) => {
    expect(() => decodeMeetingMessage(fromHex(hex))).toThrow(malformed);
  });

  it('is refused or decodes to a value that encodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.nat(9), fc.uint8Array({ maxLength: 60 }), (kind, rest) => {
        const body = Uint8Array.of(kind, ...rest);
        try {
          expect(encodeMeetingMessage(decodeMeetingMessage(body))).toEqual(body);
        } catch (error) {
          expect(error).toEqual(refused);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it.each(vectors.otherVersion)('is refused as $code: $name', ({ hex, code, remote }) => {
    const detail = { version: expect.any(Number), ...(remote && { remote }) };
    expect(() => decodeMeetingMessage(fromHex(hex))).toThrow(expect.objectContaining({ code, detail }));
  });
});
