// SPDX-License-Identifier: MPL-2.0
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageReader, prefixMessage } from '../src/control/message-reader.ts';

const LIMIT = 500;

describe('MessageReader', () => {
  it('gives the same messages for any cutting of the bytes', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: LIMIT }), { maxLength: 8 });
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 40 }), (sent, sizes) => {
        const reader = new MessageReader(LIMIT);
        let rest = Buffer.concat(sent.map(prefixMessage));
        const received: Buffer[] = [];
        for (const size of [...sizes, rest.length]) {
          received.push(...reader.feed(rest.subarray(0, size)));
          rest = rest.subarray(size);
        }
        expect(received.map((message) => Uint8Array.from(message))).toEqual(sent);
      }),
    );
  });

  it('refuses a message over the limit by its length alone', () => {
    expect(() => [...new MessageReader(LIMIT).feed(Buffer.of(0, 0, 0, 1, 0xf5))]).toThrow('501 bytes');
    expect([...new MessageReader(LIMIT).feed(Buffer.of(0, 0, 0, 1, 0xf4))]).toEqual([]);
  });

  it('refuses a compressed message', () => {
    expect(() => [...new MessageReader(LIMIT).feed(Buffer.of(1, 0, 0, 0, 0))]).toThrow('compressed');
  });
});
