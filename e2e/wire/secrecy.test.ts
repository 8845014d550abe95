// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { secretsFoundIn } from './secrets.ts';
import { CODE, CONTENT, FILE_NAME, transferThroughProxy } from './through-proxy.ts';

const LANES = 3;
const LARGE_BYTES = 5 * 2 ** 20;

describe('the bytes on the wire', () => {
  it('hold no word of the code, no name, no content, no label and no address, and all pass through the proxy', async () => {
    const env = { KD_LANES: String(LANES) };
    const { receiver, sender, placed, proxy } = await transferThroughProxy({ env, largeBytes: LARGE_BYTES });
    expect({ receiver: receiver.exit, sender: sender.exit }).toEqual({ receiver: 0, sender: 0 });
    expect(placed).toHaveLength(3);
    // The sender's candidates include its own port, but the receiver used none of them.
    const counts = ['rendezvous', 'control', 'lane'].map((kind) => proxy.of(kind as 'lane').length);
    expect(counts).toEqual([1, 1, LANES]);
    expect(proxy.bytes.length).toBeGreaterThan(LARGE_BYTES);

    const wire = proxy.bytes;
    // The search finds plaintext: the mailbox that a guest joins (PROTOCOL 2.2).
    expect(wire.includes(createHash('sha256').update('KeibiDrop mailbox v1').update('7').digest())).toBe(true);
    const [, ...words] = CODE.split('-');
    const secrets = [...words, CODE, FILE_NAME, CONTENT, hostname(), '127.0.0.1', 'keibidrop.peer.v1', 'Transfer'];
    expect(secretsFoundIn(wire, secrets)).toEqual([]);
  });
});
