// SPDX-License-Identifier: MPL-2.0
import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkName, foldName, printable, utf8Length } from './remote-path.ts';

const inside = { top: false, entry: 5 };
const atTop = { top: true, entry: 5 };
const utf8 = (text: string) => new TextEncoder().encode(text);

describe('checkName', () => {
  it.each([
    'a',
    ' ',
    'name with spaces',
    'quotes \'"`',
    'new\nline',
    '...',
    '..a',
    '-rf',
    'C:\\Windows',
    'CON',
    '\ufeffbom',
    '😀.txt',
    'e\u0301',
    'x'.repeat(255),
    '😀'.repeat(63),
    '.keibidrop',
  ])('takes %j, as bytes and as a string', (name) => {
    expect(checkName(utf8(name), atTop)).toBe(name);
    expect(checkName(name, atTop)).toBe(name);
  });

  it.each([
    ['', 'empty'],
    ['.', 'named .'],
    ['..', 'named ..'],
    ['/', 'slash'],
    ['a/b', 'slash'],
    ['/a', 'slash'],
    ['a\0', 'NUL'],
  ])('refuses %j and says why', (name, why) => {
    for (const form of [name, utf8(name)]) {
      expect(() => checkName(form, inside)).toThrow(
        expect.objectContaining({
          code: 'TRANSFER_PATH_REFUSED',
          detail: { entry: 5 },
          message: expect.stringMatching(`^Entry 5, .*${why}`),
        }),
      );
    }
  });

  it.each(['x'.repeat(256), '😀'.repeat(64), 'é'.repeat(128)])('refuses %s as over 255 bytes', (name) => {
    for (const form of [name, utf8(name)]) {
      expect(() => checkName(form, inside)).toThrow(expect.objectContaining({ code: 'TRANSFER_LIMIT_EXCEEDED' }));
    }
  });

  it('refuses staging names at the top, and only there', () => {
    expect(() => checkName('.keibidrop-partial-1', atTop)).toThrow(
      expect.objectContaining({ code: 'TRANSFER_PATH_REFUSED' }),
    );
    expect(checkName('.keibidrop-partial-1', inside)).toBe('.keibidrop-partial-1');
  });

  it.each(['ff', 'c0af', 'eda080', 'e282', '80', 'f5808080', '61c3'])(
    'refuses the bytes %s, which are not UTF-8',
    (hex) => {
      expect(() => checkName(new Uint8Array(Buffer.from(hex, 'hex')), inside)).toThrow(
        expect.objectContaining({ code: 'TRANSFER_PATH_REFUSED', message: expect.stringContaining('not UTF-8') }),
      );
    },
  );

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800'])('refuses the string %j, which has no UTF-8 form', (name) => {
    expect(() => checkName(name, inside)).toThrow(expect.objectContaining({ code: 'TRANSFER_PATH_REFUSED' }));
  });

  it('accepts exactly the names that a directory can hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = Buffer.from(bytes).toString('utf8');
        const fine =
          bytes.length > 0 &&
          bytes.length <= 255 &&
          !['.', '..'].includes(text) &&
          !bytes.includes(0) &&
          !bytes.includes(0x2f) &&
          Buffer.from(text, 'utf8').equals(bytes);
        if (fine) expect(checkName(bytes, inside)).toBe(text);
        else expect(() => checkName(bytes, inside)).toThrow(expect.objectContaining({ name: 'KeibiError' }));
      }),
    );
  });
});

describe('utf8Length', () => {
  it('counts like an encoder, and detects text that cannot be encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }), (text) => {
        const bytes = Buffer.from(text, 'utf8');
        expect(utf8Length(text)).toBe(bytes.toString('utf8') === text ? bytes.length : undefined);
      }),
    );
  });
});

describe('foldName', () => {
  it.each([
    ['README', 'readme'],
    ['Straße', 'STRAßE'],
    ['e\u0301', '\u00e9'],
    ['ÉCOLE', 'e\u0301cole'],
    ['Σ', 'σ'],
  ])('makes %j and %j clash', (a, b) => {
    expect(foldName(a)).toBe(foldName(b));
  });

  it.each([
    ['a', 'b'],
    ['e', 'é'],
    ['a ', 'a'],
  ])('keeps %j and %j apart', (a, b) => {
    expect(foldName(a)).not.toBe(foldName(b));
  });

  it('is idempotent on names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(foldName(foldName(name))).toBe(foldName(name));
      }),
    );
  });
});

describe('printable', () => {
  it.each([
    ['plain name', '"plain name"'],
    ['new\nline', '"new\\u{a}line"'],
    ['\u001b[2Jgone', '"\\u{1b}[2Jgone"'],
    ['txt.\u202eexe', '"txt.\\u{202e}exe"'],
    ['a"b\\c', '"a\\u{22}b\\u{5c}c"'],
    ['x'.repeat(200), `"${'x'.repeat(79)}…"`],
  ])('shows %j as %s', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});
