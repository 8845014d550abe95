// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, readVectors, toHex } from '../../test/vectors.ts';
import { MAX_HANDSHAKE_BYTES } from '../limits.ts';
import {
  CONTROL_PREAMBLE,
  decodeHandshakeMessage,
  encodeHandshakeMessage,
  HANDSHAKE_HEAD_BYTES,
  type HandshakeMessage,
  handshakeBodyBytes,
} from './handshake-message.ts';

interface Vectors {
  messages: { name: string; message: Record<string, unknown>; hex: string }[];
  otherVersion: { name: string; hex: string; code: string; remote: boolean }[];
  malformed: { name: string; hex: string }[];
}
const vectors = readVectors<Vectors>('handshake-message');
const malformed = expect.objectContaining({ code: 'HANDSHAKE_MALFORMED' });
const refused = expect.objectContaining({
  code: expect.stringMatching(/^(HANDSHAKE_MALFORMED|PEER_NEWER|PEER_OLDER)$/),
});

/** A vector's message, with its hex fields as bytes. */
function messageOf(fields: Record<string, unknown>): HandshakeMessage {
  const bytes = ['attempt', 'x25519', 'kemKey', 'kemCiphertext', 'confirm'];
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    bytes.includes(name) ? fromHex(value as string) : value,
  ]);
  return Object.fromEntries(entries) as HandshakeMessage;
}

describe('a handshake message', () => {
  it.each(vectors.messages)('matches the vector: $name', ({ message, hex }) => {
    expect(toHex(encodeHandshakeMessage(messageOf(message)))).toBe(hex.replaceAll(' ', ''));
    expect(decodeHandshakeMessage(fromHex(hex))).toEqual(messageOf(message));
  });

  it.each(vectors.malformed)('is HANDSHAKE_MALFORMED: $name', ({ hex }) => {
    expect(() => decodeHandshakeMessage(fromHex(hex))).toThrow(malformed);
  });

  it('gives in its head the number of bytes that follow, within the limit', () => {
    for (const { hex } of vectors.messages) {
      const bytes = fromHex(hex);
      const rest = handshakeBodyBytes(bytes.subarray(0, HANDSHAKE_HEAD_BYTES));
      expect(HANDSHAKE_HEAD_BYTES + rest).toBe(bytes.length);
      expect(bytes.length).toBeLessThanOrEqual(4 + MAX_HANDSHAKE_BYTES);
    }
  });

  it.each(vectors.otherVersion)('is refused as $code: $name', ({ hex, code, remote }) => {
    const detail = { version: expect.any(Number), ...(remote && { remote }) };
    expect(() => decodeHandshakeMessage(fromHex(hex))).toThrow(expect.objectContaining({ code, detail }));
  });

  it('is refused or has the length in its head, for any head', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (head) => {
        try {
          expect(handshakeBodyBytes(head)).toBe(new DataView(head.buffer).getUint32(0) - 2);
        } catch (error) {
          expect(error).toEqual(refused);
        }
      }),
    );
  });

  it('follows the preamble of PROTOCOL 2.1', () => {
    expect(toHex(CONTROL_PREAMBLE)).toBe('4b454942492d4331');
  });
});
