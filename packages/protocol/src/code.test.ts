// SPDX-License-Identifier: MPL-2.0
import { wordlist } from '@scure/bip39/wordlists/english.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertCodeStrength, codeBits, createCode, mailboxOf, parseCode } from './code.ts';
import { KeibiError } from './errors.ts';

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

describe('parseCode', () => {
  it.each([
    ['7-guitar-pencil', '7-guitar-pencil'],
    ['  7-Guitar-PENCIL\n', '7-guitar-pencil'],
    ['7 guitar pencil', '7-guitar-pencil'],
    ['7 - guitar  -  pencil', '7-guitar-pencil'],
    ['7\tguitar\tpencil', '7-guitar-pencil'],
    ['123456789-a-b-c', '123456789-a-b-c'],
    ['07-a-b', '07-a-b'],
    ['7-4711-x9', '7-4711-x9'],
    [`7-${'a'.repeat(32)}-b`, `7-${'a'.repeat(32)}-b`],
    [`1${'-a'.repeat(16)}`, `1${'-a'.repeat(16)}`],
  ])('reads %j', (text, expected) => {
    expect(parseCode(text).text).toBe(expected);
  });

  it.each([
    '',
    ' ',
    '-',
    '7',
    '7-guitar',
    'guitar-pencil',
    'guitar-pencil-7',
    '1234567890-a-b',
    '-7-a-b',
    '7--a-b',
    '7-a-b-',
    '7-a_b-c',
    '7-gitärre-pencil',
    '7-a-b/c',
    '7-a-b\u0000',
    '٧-a-b',
    `7-${'a'.repeat(33)}-b`,
    `1${'-a'.repeat(17)}`,
    '7\u2013guitar\u2013pencil',
  ])('refuses %j with a sentence that does not repeat it', (text) => {
    const error = refusalOf(() => parseCode(text));
    expect(error.code).toBe('CODE_MALFORMED');
    expect(error.message).toMatch(/^That is not a code: .*7-guitar-pencil\. Check it with the sender\.$/);
    if (text.length > 16) expect(error.message).not.toContain(text);
  });

  it('reads its own output in any way of typing it', () => {
    const nameplate = fc.integer({ min: 0, max: 999999999 }).map(String);
    const words = fc.array(fc.constantFrom(...wordlist), { minLength: 2, maxLength: 16 });
    fc.assert(
      fc.property(nameplate, words, fc.constantFrom('-', ' ', ' - ', '  '), (number, list, between) => {
        const code = parseCode([number, ...list].join(between).toUpperCase());
        expect(code).toEqual({ nameplate: number, words: list, text: [number, ...list].join('-') });
        expect(parseCode(code.text)).toEqual(code);
      }),
    );
  });
});

describe('createCode', () => {
  it.each([2, 3, 8, 16])('draws %i different listed words', (wordCount) => {
    const code = createCode({ nameplate: '7', wordCount, randomBytes: random });
    expect(code.words.length).toBe(wordCount);
    expect(new Set(code.words).size).toBe(wordCount);
    expect(code.words.every((word) => wordlist.includes(word))).toBe(true);
    expect(codeBits(code)).toBeGreaterThanOrEqual(11);
    expect(parseCode(code.text)).toEqual(code);
  });

  it('draws different words even from a repeating source', () => {
    const code = createCode({ nameplate: '7', wordCount: 3, randomBytes: (length) => new Uint8Array(length) });
    expect(code.words).toEqual(wordlist.slice(0, 3));
  });

  it('draws every word about equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 4096; i++) {
      for (const word of createCode({ nameplate: '1', wordCount: 16, randomBytes: random }).words) {
        counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
    // 32 of each are expected; 0 or over 90 has a chance below 1e-10.
    expect(counts.size).toBe(2048);
    expect(Math.max(...counts.values())).toBeLessThan(90);
  });

  it.each([
    { nameplate: '7', wordCount: 1 },
    { nameplate: '7', wordCount: 17 },
    { nameplate: '7', wordCount: 2.5 },
    { nameplate: '', wordCount: 2 },
    { nameplate: 'x', wordCount: 2 },
    { nameplate: '1234567890', wordCount: 2 },
  ])('refuses $wordCount words under nameplate $nameplate', (options) => {
    expect(refusalOf(() => createCode({ ...options, randomBytes: random })).code).toBe('CODE_MALFORMED');
  });
});

describe('codeBits', () => {
  it.each([
    ['7-guitar-pencil', 22],
    ['7-guitar-guitar', 11],
    ['7-guitar-guitar-pencil', 22],
    ['7-a-b', 0],
    ['7-guitarx-pencil', 11],
    [`7-${'x'.repeat(32)}-${'y'.repeat(32)}-${'z'.repeat(32)}`, 0],
    ['7-guitarx-a-b-c', 4 + 2 * 6],
    ['7-guitarx-guitarx-b-c', 4 + 2 * 6],
    [`7-${'x'.repeat(8)}-a-b-c`, 4 + 14],
    [`7-${'x'.repeat(20)}-a-b-c`, 4 + 14 + 18],
    [`7-${'x'.repeat(32)}-a-b-c`, 4 + 14 + 18 + 12],
    ['7-hello-world', 11],
    ['7-one-two-three-six', 11],
    ['7-hello-guitar-world', 22],
  ])('counts %s as %d', (text, bits) => {
    expect(codeBits(parseCode(text))).toBe(bits);
  });

  it('never counts less when a word is added', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,32}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 15 }), word, (words, more) => {
        const shorter = parseCode(['1', ...words].join('-'));
        expect(codeBits(parseCode(`${shorter.text}-${more}`))).toBeGreaterThanOrEqual(codeBits(shorter));
      }),
    );
  });

  it.each([
    ['7-a-b', false],
    ['7-guitar-guitar', false],
    ['7-abc-de9', false],
    ['1-hello-world', false],
    ['1-love-you', false],
    ['1-test-code', false],
    ['1-my-birthday-party', false],
    ['1-correct-horse-bttery-staple', true],
    ['1-keibi-zurich-anna-kuchen', true],
    ['7-guitar-pencil', true],
  ])('lets %s pass: %s', (text, passes) => {
    if (passes) assertCodeStrength(parseCode(text));
    else expect(refusalOf(() => assertCodeStrength(parseCode(text))).code).toBe('CODE_TOO_WEAK');
  });
});

describe('mailboxOf', () => {
  it('is the SHA-256 defined in PROTOCOL 2.2', () => {
    // printf 'KeibiDrop mailbox v17' | sha256sum
    expect(mailboxOf('7')).toBe('816fc29406760cd392dcc0a8ece4c0bc41c3abfadb44dc66fb62e4947d368e73');
    expect(mailboxOf('7')).not.toBe(mailboxOf('8'));
  });
});

function refusalOf(act: () => void): KeibiError {
  try {
    act();
  } catch (error) {
    if (error instanceof KeibiError) return error;
    throw error;
  }
  throw new Error('was not refused');
}
