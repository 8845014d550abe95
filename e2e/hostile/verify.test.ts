// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChunkDigests } from '../../proto/index.ts';
import { Receiving } from './receiving.ts';

const CONTENT = Buffer.from('good');
const right = createHash('sha256').update(CONTENT).digest();
const answer: ChunkDigests = { entry: 1, firstChunk: 0, sha256: right, last: true, code: '' };

/** Receives entry 1 with --verify from a sender that answers the request for digests with `answers`. */
async function verified(answers: ChunkDigests[]) {
  const receiving = await Receiving.begin({
    args: ['--json', '--verify'],
    sender: {
      digests: (call) => {
        for (const one of answers) call.write(one);
        call.end();
      },
    },
  });
  try {
    const { sender } = receiving;
    sender
      .start()
      .page(0, [{ name: 'empty' }, { name: 'small', size: 4n }])
      .end(2, 2, 4);
    await sender.hears('answer');
    const head = Buffer.alloc(18);
    head[0] = 1;
    head.writeUInt32BE(1, 1);
    head.writeUInt32BE(CONTENT.length, 14);
    await sender.frame(Buffer.concat([head, CONTENT]));
    const { exit, code } = await receiving.end();
    const placed = await stat(join(receiving.out, 'small'), { bigint: true });
    return { exit, code, marked: placed.mtimeNs === 1n };
  } finally {
    await receiving.close();
  }
}

describe('a sender of digests', () => {
  const empty: ChunkDigests = { ...answer, entry: 0, sha256: Buffer.alloc(0) };
  const malformed = { exit: 3, code: 'HANDSHAKE_MALFORMED' };
  const cases: [what: string, expected: { exit: number; code: unknown }, answers: ChunkDigests[]][] = [
    ['with right answers is accepted', { exit: 0, code: undefined }, [empty, answer]],
    ['without an answer is refused', malformed, []],
    ['that leaves an entry out is refused', malformed, [empty]],
    ['that answers for an entry outside the request is refused', malformed, [empty, { ...answer, entry: 77 }]],
    ['that answers for other chunks is refused', malformed, [empty, { ...answer, firstChunk: 5 }]],
    [
      'that does not end its answer is refused',
      malformed,
      [empty, { ...answer, sha256: Buffer.alloc(0), last: false }],
    ],
    [
      'with other digests fails the file',
      { exit: 1, code: 'TRANSFER_DIGEST_MISMATCH' },
      [empty, { ...answer, sha256: Buffer.alloc(32) }],
    ],
    [
      'with more digests fails the file',
      { exit: 1, code: 'TRANSFER_DIGEST_MISMATCH' },
      [empty, { ...answer, sha256: Buffer.concat([right, right]) }],
    ],
  ];

  it.concurrent.each(cases)('%s', async (_what, expected, answers) => {
    // The next run replaces a file that is marked.
    const marked = expected.code === 'TRANSFER_DIGEST_MISMATCH';
    expect(await verified(answers)).toEqual({ ...expected, marked });
  });
});
