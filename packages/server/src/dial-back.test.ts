// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DialBack } from './dial-back.ts';

describe('DialBack', () => {
  it('dials one port of a network at a time', async () => {
    const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const dialBack = new DialBack();
    const ask = () => dialBack.reaches('127.0.0.1', port);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([true, undefined, undefined]);
    expect(await ask()).toBe(true);
    listener.close();
  });
});
