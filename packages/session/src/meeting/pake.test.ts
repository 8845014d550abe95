// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha512 } from '../keys/hkdf.ts';
import { loadSodium, type Sodium } from '../keys/sodium.ts';
import {
  calculateGenerator,
  generatorString,
  intermediateSessionKey,
  prependLen,
  sampleScalar,
  scalarMult,
  scalarMultVfy,
  transcriptIr,
} from './pake.ts';

const vectors = JSON.parse(
  readFileSync(new URL('../../../protocol/test/vectors/cpace-ristretto255.json', import.meta.url), 'utf8'),
);
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const hex = (value: Uint8Array | undefined) => (value === undefined ? undefined : Buffer.from(value).toString('hex'));

let sodium: Sodium;
beforeAll(async () => {
  sodium = await loadSodium();
});

describe('CPace by the vectors of its draft', () => {
  const { run } = vectors;
  const inputs = { prs: bytes(run.prs), ci: bytes(run.ci), sid: bytes(run.sid) };

  it('builds the generator string', () => {
    expect(hex(generatorString(inputs))).toBe(run.generatorString);
    expect(hex(sha512(sodium, generatorString(inputs)))).toBe(run.generatorHash);
  });

  it('calculates the generator', () => {
    expect(hex(calculateGenerator(sodium, inputs))).toBe(run.generator);
  });

  it.each([
    ['ya', 'shareA'],
    ['yb', 'shareB'],
  ])('makes the share of scalar %s', (scalar, share) => {
    expect(hex(scalarMult(sodium, bytes(run[scalar]), bytes(run.generator)))).toBe(run[share]);
  });

  it('agrees on the secret point from both sides', () => {
    expect(hex(scalarMultVfy(sodium, bytes(run.ya), bytes(run.shareB)))).toBe(run.k);
    expect(hex(scalarMultVfy(sodium, bytes(run.yb), bytes(run.shareA)))).toBe(run.k);
  });

  it('writes the transcript of initiator and responder', () => {
    for (const { ya, ada, yb, adb, transcript } of [...vectors.transcripts, transcriptOfRun()]) {
      expect(hex(transcriptIr(bytes(ya), bytes(ada), bytes(yb), bytes(adb)))).toBe(transcript);
    }
  });

  it('derives the intermediate session key', () => {
    const isk = intermediateSessionKey(sodium, {
      sid: bytes(run.sid),
      k: bytes(run.k),
      transcript: bytes(run.transcript),
    });
    expect(hex(isk)).toBe(run.isk);
  });

  it('multiplies a valid share', () => {
    const { scalar, valid } = vectors.scalarMultVfy;
    expect(hex(scalarMultVfy(sodium, bytes(scalar), bytes(valid.share)))).toBe(valid.result);
  });

  it.each(vectors.scalarMultVfy.invalidShares as string[])('refuses the invalid share %s', (share) => {
    expect(scalarMultVfy(sodium, bytes(vectors.scalarMultVfy.scalar), bytes(share))).toBeUndefined();
  });

  function transcriptOfRun() {
    return { ya: run.shareA, ada: run.ada, yb: run.shareB, adb: run.adb, transcript: run.transcript };
  }
});

describe('the parts of CPace', () => {
  it.each([
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [300, 'ac02'],
    [16384, '808001'],
  ])('writes the length %i as LEB128', (length, prefix) => {
    const encoded = prependLen(new Uint8Array(length).fill(0xee));
    expect(hex(encoded.subarray(0, prefix.length / 2))).toBe(prefix);
    expect(encoded.length).toBe(length + prefix.length / 2);
  });

  it('hashes as many blocks for a short password as for a long one', () => {
    const stringOf = (password: string) =>
      generatorString({ prs: new TextEncoder().encode(password), ci: bytes('00'), sid: new Uint8Array(16) });
    expect(stringOf('a').length).toBe(stringOf('guitar-pencil-and-a-good-deal-more-than-that').length);
  });

  it('samples a nonzero scalar, a new one each time', () => {
    const scalars = new Set(Array.from({ length: 50 }, () => hex(sampleScalar(sodium))));
    expect(scalars.size).toBe(50);
    expect(scalars).not.toContain('00'.repeat(32));
  });
});
