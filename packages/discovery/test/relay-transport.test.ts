// SPDX-License-Identifier: MPL-2.0
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Candidate } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRelayTransport } from '../src/index.ts';

const TOKEN = 'ab'.repeat(32);
const transport = createRelayTransport();
const { signal } = new AbortController();

let server: Server;
let candidate: Candidate;
let accepted: Promise<[Socket]>;
const sockets: Socket[] = [];

beforeEach(async () => {
  server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  accepted = once(server, 'connection') as Promise<[Socket]>;
  candidate = { transport: 'relay', host: '127.0.0.1', port: (server.address() as AddressInfo).port, token: TOKEN };
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

/** Answers a dial with `answer` once it has sent its token. */
async function relayed(answer: Buffer): Promise<Socket> {
  const [socket] = await accepted;
  const [hello] = await once(socket, 'data');
  expect(hello).toEqual(Buffer.concat([Buffer.from('KEIBI-R1'), Buffer.from(TOKEN, 'hex')]));
  socket.write(answer);
  return socket;
}

describe('the relay transport', () => {
  it('sends the token, and returns the connection right after the answer', async () => {
    const dialling = transport.dial(candidate, { signal });
    const relay = await relayed(Buffer.from('\u0001first words', 'latin1'));
    const socket = await dialling;
    expect(String((await once(socket, 'data'))[0])).toBe('first words');
    socket.write('back');
    expect(String((await once(relay, 'data'))[0])).toBe('back');
    expect(socket.eventNames().filter((event) => event === 'error' || event === 'readable')).toEqual([]);
    socket.destroy();
  });

  it.each([
    ['is full', 2, 'has no room'],
    ['saw no sender join', 3, 'was not joined by the sender in time'],
    ['is not a relay', 0x48, 'did not answer as a relay does'],
  ])('reports that the relay %s', async (_name, answer, sentence) => {
    const dialling = transport.dial(candidate, { signal });
    dialling.catch(() => {});
    await relayed(Buffer.of(answer));
    await expect(dialling).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringContaining(sentence),
    });
  });

  it('fails when the relay hangs up or its port is closed', async () => {
    const dialling = transport.dial(candidate, { signal });
    dialling.catch(() => {});
    (await accepted)[0].resume().end();
    await expect(dialling).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    server.close();
    await once(server, 'close');
    await expect(transport.dial(candidate, { signal })).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('rejects with the reason of the abort and leaves no listener', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const dialling = transport.dial(candidate, { signal: controller.signal });
    const [relay] = await accepted;
    await once(relay, 'data');
    controller.abort(reason);
    await expect(dialling).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await once(relay, 'close');
  });
});
