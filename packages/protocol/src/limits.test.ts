// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as limits from './limits.ts';

const header = readFileSync(new URL('../../../native/src/core/limits.h', import.meta.url), 'utf8');

/** The constants of limits.h under their TypeScript names: `kMaxLanes` becomes `MAX_LANES`. */
function nativeLimits(): Map<string, bigint> {
  const values = new Map<string, bigint>();
  for (const [, name = '', expression = ''] of header.matchAll(/constexpr \w+ k(\w+) = ([^;]+);/g)) {
    values.set(
      name.replace(/(?!^)([A-Z])/g, '_$1').toUpperCase(),
      expression
        .replace(/\w+_t\{(\d+)\}/g, '$1')
        .replace(/[()]/g, '')
        .split(/ (?=[+<-])/)
        .reduce((value, term) => applied(value, term, values), 0n),
    );
  }
  return values;
}

/** Applies one term of the header's sums and shifts, which all run from left to right. */
function applied(value: bigint, term: string, known: ReadonlyMap<string, bigint>): bigint {
  const [, operator = '', operand = ''] = /^(\+|-|<<)? ?(\w+)$/.exec(term) ?? [];
  const number =
    known.get(
      operand
        .slice(1)
        .replace(/(?!^)([A-Z])/g, '_$1')
        .toUpperCase(),
    ) ?? BigInt(operand);
  if (operator === '<<') return value << number;
  return operator === '-' ? value - number : value + number;
}

describe('the limits', () => {
  const here: Record<string, number> = { ...limits };

  it('are the same in C++, for all that C++ has', () => {
    const native = nativeLimits();
    expect(native.size).toBeGreaterThanOrEqual(11);
    expect(Object.fromEntries([...native].map(([name, value]) => [name, Number(value)]))).toEqual(
      Object.fromEntries([...native.keys()].map((name) => [name, here[name]])),
    );
  });

  it('are all named in PROTOCOL 1', () => {
    const protocol = readFileSync(new URL('../../../docs/PROTOCOL.md', import.meta.url), 'utf8');
    expect(Object.keys(here).filter((name) => !protocol.includes(`\`${name}\``))).toEqual([]);
  });

  it('have the values of PROTOCOL 1', () => {
    expect(here).toEqual({
      MAX_HANDSHAKE_BYTES: 4096,
      CHUNK_BYTES: 1048576,
      MAX_FRAME_PLAINTEXT: 1052672,
      RATCHET_BYTES: 1073741824,
      RATCHET_FRAMES: 1048576,
      REKEY_BYTES: 68719476736,
      MAX_LANES: 16,
      MAX_LANE_NUMBERS: 256,
      MAX_PAGE_BYTES: 262144,
      MAX_ENTRIES: 4194304,
      MAX_NAME_BYTES: 255,
      MAX_TARGET_BYTES: 4095,
      MAX_MANIFEST_BYTES: 402653184,
      MAX_DEPTH: 4096,
      MAX_FILE_BYTES: Number.MAX_SAFE_INTEGER,
      MAX_SPARSE_BYTES: 17592186044416,
      MAX_HOLE_CHUNKS: 65536,
      MAX_TEXT_BYTES: 1048576,
      MAX_LABEL_BYTES: 128,
      MAX_MAILBOX_BODY_BYTES: 4096,
      MAX_WRONG_GUESSES: 3,
      MIN_CODE_BITS: 16,
      MAX_SHARE_PATH_BYTES: 32768,
      MAX_FETCH_PATHS: 1024,
      MAX_NOTICE_CHANGES: 1024,
      MAX_BATCH_CALLS: 256,
      MAX_ATTRIBUTE_BYTES: 2 ** 16,
    });
  });
});
