// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Code,
  decodeCandidates,
  decodeContactMessage,
  decodeHandshakeMessage,
  decodeMeetingMessage,
  decodePage,
  decodeRelayAnswer,
  encodeCandidates,
  encodeContactMessage,
  encodeHandshakeMessage,
  encodeMeetingMessage,
  encodePage,
  entryStarts,
  KeibiError,
  parseCode,
  parseFingerprint,
  scanNames,
  scanPage,
  TOP,
} from '../src/index.ts';

// Every decoder of a peer's bytes returns a value or throws a KeibiError for any input, and never throws another exception.

const filled = (bytes: number) => new Uint8Array(bytes).fill(7);
const fields = { mode: 0o644, parent: TOP, mtimeNs: 1n };
const PAGE = encodePage([
  { type: 'file', size: 5, name: 'a name', ...fields },
  { type: 'symlink', size: 0, name: 'link', target: 'a name', ...fields },
  { type: 'directory', size: 0, name: 'folder', ...fields },
]);
const HANDSHAKE = encodeHandshakeMessage({
  kind: 'initiator-hello',
  suites: ['aes-256-gcm'],
  hardware: true,
  attempt: filled(16),
  x25519: filled(32),
  kemKey: filled(1568),
});
const INVITATION = { id: filled(16), code: '7-a-b', to: 'files', label: 'Anna' } as const;

const DECODERS: Record<string, { decode(bytes: Uint8Array): unknown; valid: Uint8Array }> = {
  decodePage: { decode: (bytes) => decodePage(bytes, 3), valid: PAGE },
  scanPage: { decode: (bytes) => scanPage(bytes, () => {}), valid: PAGE },
  scanNames: { decode: (bytes) => scanNames(bytes, () => {}), valid: PAGE },
  entryStarts: { decode: (bytes) => entryStarts(bytes, 3), valid: PAGE },
  decodeHandshakeMessage: { decode: decodeHandshakeMessage, valid: HANDSHAKE },
  decodeMeetingMessage: {
    decode: decodeMeetingMessage,
    valid: encodeMeetingMessage({ kind: 'hello', sid: filled(16), ya: filled(32) }),
  },
  decodeContactMessage: {
    decode: decodeContactMessage,
    valid: encodeContactMessage({ kind: 'invite', invitation: INVITATION }),
  },
  'decodeContactMessage of ROTATE': {
    decode: decodeContactMessage,
    valid: encodeContactMessage({ kind: 'rotate', x25519: filled(32), kem: filled(1568) }),
  },
  'decodeContactMessage of ROTATE-TEST': {
    decode: decodeContactMessage,
    valid: encodeContactMessage({ kind: 'rotate-test', ciphertext: filled(1568) }),
  },
  'decodeContactMessage of ROTATED': {
    decode: decodeContactMessage,
    valid: encodeContactMessage({ kind: 'rotated', proof: filled(32) }),
  },
  decodeCandidates: {
    decode: decodeCandidates,
    valid: encodeCandidates([{ transport: 'direct', host: '192.0.2.1', port: 26431 }]),
  },
  decodeRelayAnswer: { decode: ([byte = 0]) => decodeRelayAnswer(byte), valid: Uint8Array.of(1) },
  parseCode: { decode: (bytes): Code => parseCode(textOf(bytes)), valid: bytesOf('7-guitar-pencil') },
  parseFingerprint: { decode: (bytes) => parseFingerprint(textOf(bytes)), valid: bytesOf('A'.repeat(86)) },
};

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Random bytes, or the valid ones with a piece replaced. */
function near(valid: Uint8Array): fc.Arbitrary<Uint8Array> {
  const piece = fc.record({
    at: fc.nat(valid.length),
    cut: fc.nat(valid.length),
    put: fc.uint8Array({ maxLength: 40 }),
  });
  const altered = piece.map(({ at, cut, put }) =>
    Uint8Array.of(...valid.subarray(0, at), ...put, ...valid.subarray(at + cut)),
  );
  return fc.oneof(altered, fc.uint8Array({ maxLength: 200 }));
}

describe('a decoder of foreign bytes', () => {
  it.each(Object.entries(DECODERS))('%s accepts valid bytes', (_, { decode, valid }) => {
    expect(() => decode(valid)).not.toThrow();
  });

  it.each(Object.entries(DECODERS))(
    '%s returns a value or throws a KeibiError, for any bytes',
    (_, { decode, valid }) => {
      fc.assert(
        fc.property(near(valid), (bytes) => {
          try {
            decode(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(KeibiError);
          }
        }),
        { numRuns: 1000 },
      );
    },
  );
});
