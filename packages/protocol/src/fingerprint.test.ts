// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FINGERPRINT_BYTES,
  fingerprintLink,
  fingerprintPhrase,
  formatFingerprint,
  parseFingerprint,
} from './fingerprint.ts';

const fingerprint = fc.uint8Array({ minLength: FINGERPRINT_BYTES, maxLength: FINGERPRINT_BYTES });
const counted = Uint8Array.from({ length: FINGERPRINT_BYTES }, (_, i) => i);

describe('a fingerprint', () => {
  it('is base64url as in RFC 4648', () => {
    expect(formatFingerprint(counted)).toBe(
      'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0-Pw',
    );
    expect(formatFingerprint(new Uint8Array(FINGERPRINT_BYTES).fill(255))).toMatch(/^_{85}w$/);
  });

  it('is read back alone, as a link, and with line breaks from a mail', () => {
    fc.assert(
      fc.property(fingerprint, (bytes) => {
        const text = formatFingerprint(bytes);
        for (const written of [text, fingerprintLink(bytes), ` ${text.slice(0, 40)}\r\n${text.slice(40)}\n`]) {
          expect([...parseFingerprint(written)]).toEqual([...bytes]);
        }
      }),
    );
  });

  const text = formatFingerprint(counted);
  it.each([
    ['nothing', ''],
    ['a character less', text.slice(1)],
    ['a character more', `${text}A`],
    ['another alphabet', text.replace(/.$/, '=')],
    ['bits behind the last byte', text.replace(/.$/, 'B')],
    ['another link', `https://id/${text}`],
  ])('is refused: %s', (_, wrong) => {
    expect(() => parseFingerprint(wrong)).toThrowError(expect.objectContaining({ code: 'USAGE' }));
  });

  it('has a phrase of eight words that depends on each of its first 88 bits', () => {
    expect(fingerprintPhrase(new Uint8Array(FINGERPRINT_BYTES))).toBe(Array(8).fill('abandon').join(' '));
    const phrases = new Set([fingerprintPhrase(counted)]);
    for (let bit = 0; bit < 88; bit++) {
      const other = counted.slice();
      other[bit >> 3] = (other[bit >> 3] as number) ^ (128 >> (bit & 7));
      phrases.add(fingerprintPhrase(other));
    }
    expect(phrases.size).toBe(89);
  });
});
