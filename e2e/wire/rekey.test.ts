// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { unitsOf } from './man-in-the-middle.ts';
import { transferThroughProxy } from './through-proxy.ts';

const MEBIBYTE = 2 ** 20;
const LANES = 2;

describe('a session with many bytes', () => {
  it('gives every lane fresh keys during the transfer', async () => {
    const env = { KD_REKEY_BYTES: String(4 * MEBIBYTE), KD_LANES: String(LANES) };
    // Slow enough for the receiver to check ten times a second how much has arrived.
    const args = ['--limit', '12M'];
    const { receiver, sender, placed, proxy } = await transferThroughProxy({ env, args, largeBytes: 24 * MEBIBYTE });
    expect({ receiver: receiver.exit, sender: sender.exit }).toEqual({ receiver: 0, sender: 0 });
    expect(placed).toHaveLength(3);

    const lanes = proxy.of('lane');
    expect(lanes).toHaveLength(LANES);
    for (const lane of lanes) {
      // The first byte of the epoch field is the number of the rekey (PROTOCOL 4.3).
      const rekeys = unitsOf(lane, 'fromSender', lane.fromSender).map((frame) => frame.readUInt8(4));
      expect(rekeys[0]).toBe(0);
      expect(rekeys.at(-1)).toBeGreaterThanOrEqual(3);
      expect(rekeys).toEqual(rekeys.toSorted((a, b) => a - b));
    }
  });
});
