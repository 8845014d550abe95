// SPDX-License-Identifier: MPL-2.0
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PeerClient } from '../../proto/index.ts';
import { Receiving } from './receiving.ts';

const keys = { x25519: Uint8Array.of(9, ...new Uint8Array(31)), kemKey: new Uint8Array(1568) };

/** The receiver's answer to a call: the reply, or the name of the error. */
function answer(call: (done: (error: { details?: string } | null, reply?: object) => void) => unknown) {
  return new Promise((resolve) => call((error, reply) => resolve(error === null ? reply : error.details)));
}

const lies: [what: string, lie: (client: PeerClient) => Promise<void>][] = [
  [
    'with a key of zeros, and a proof of zeros',
    async (client) => {
      const zero = { ...keys, x25519: new Uint8Array(32) };
      expect(await answer((done) => client.introduce(zero, done))).toHaveProperty('kemCiphertext');
      const proof = { kemCiphertext: new Uint8Array(1568), proof: new Uint8Array(32) };
      expect(await answer((done) => client.introduceProof(proof, done))).toBe('HANDSHAKE_MALFORMED');
    },
  ],
  [
    'with a forged proof',
    async (client) => {
      expect(await answer((done) => client.introduce(keys, done))).toHaveProperty('kemCiphertext');
      const proof = { kemCiphertext: new Uint8Array(1568), proof: new Uint8Array(32) };
      expect(await answer((done) => client.introduceProof(proof, done))).toBe('HANDSHAKE_TAMPERED');
    },
  ],
  [
    'with half a key',
    async (client) => {
      const half = { ...keys, kemKey: new Uint8Array(784) };
      expect(await answer((done) => client.introduce(half, done))).toBe('HANDSHAKE_MALFORMED');
    },
  ],
];

describe('a sender with a forged introduction', () => {
  it.each(lies)('%s is not saved, and its transfer still arrives', async (_, lie) => {
    const receiving = await Receiving.begin({ args: ['--json', '--save', 'Eve', '--config', 'me'] });
    try {
      const { sender } = receiving;
      await lie(sender.session?.client as PeerClient);
      sender.start('mallory', 'a text');
      const { exit, stdout } = await receiving.end();
      expect(exit, stdout).toBe(0);
      expect(stdout).toMatch(/"event":"warning","message":"not saved as “Eve”: /);
      expect(stdout).toContain('"event":"text","text":"a text"');
      await expect(access(join(receiving.root, 'me', 'contacts.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    } finally {
      await receiving.close();
    }
  });
});
