// SPDX-License-Identifier: MPL-2.0
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Candidate } from '@keibidrop/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { createDirectTransport, dialRace, type Transport } from '../src/index.ts';

const direct = createDirectTransport();
const servers: Server[] = [];
const accepted: Socket[] = [];

afterEach(() => {
  for (const socket of accepted.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen(): Promise<{ server: Server; candidate: Candidate }> {
  const server = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return {
    server,
    candidate: { transport: 'direct', host: '127.0.0.1', port: (server.address() as AddressInfo).port },
  };
}

/** A port where nobody listens. */
async function deadCandidate(): Promise<Candidate> {
  const { server, candidate } = await listen();
  server.close();
  await once(server, 'close');
  return candidate;
}

/** A way to nowhere: no answer until the dial is given up. */
function silentTransport(): Transport & { dialled: number; givenUp: number } {
  return {
    name: 'silent',
    dialled: 0,
    givenUp: 0,
    async *find() {},
    dial(_candidate, { signal }) {
      this.dialled++;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          this.givenUp++;
          reject(signal.reason);
        });
      });
    },
  };
}

const SILENT: Candidate = { transport: 'silent', host: '192.0.2.1', port: 1 };

describe('the dial race', () => {
  it('takes the first candidate that connects and leaves the rest undialled', async () => {
    const [first, second] = [await listen(), await listen()];
    const controller = new AbortController();
    const { socket, candidate } = await dialRace([first.candidate, second.candidate], {
      transports: [direct],
      signal: controller.signal,
    });
    expect(candidate).toBe(first.candidate);
    expect(socket.remotePort).toBe(first.candidate.port);
    expect(await new Promise((resolve) => second.server.getConnections((_, count) => resolve(count)))).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    socket.destroy();
  });

  it('goes on to the next at once when one fails', async () => {
    const { candidate } = await listen();
    const { socket, candidate: winner } = await dialRace([await deadCandidate(), await deadCandidate(), candidate], {
      transports: [direct],
      staggerMs: 60_000,
      signal: new AbortController().signal,
    });
    expect(winner).toBe(candidate);
    socket.destroy();
  });

  it('starts the next beside one that does not answer, and gives that one up when it wins', async () => {
    const silent = silentTransport();
    const { candidate } = await listen();
    const { socket, candidate: winner } = await dialRace([SILENT, candidate], {
      transports: [silent, direct],
      staggerMs: 5,
      signal: new AbortController().signal,
    });
    expect(winner).toBe(candidate);
    expect(silent).toMatchObject({ dialled: 1, givenUp: 1 });
    socket.destroy();
  });

  it('closes a connection that comes too late', async () => {
    const { candidate } = await listen();
    const dialled: Promise<Socket>[] = [];
    const stubborn: Transport = {
      name: 'direct',
      async *find() {},
      dial(target) {
        const socket = direct.dial(target, { signal: new AbortController().signal });
        dialled.push(socket);
        return socket;
      },
    };
    const { socket } = await dialRace([candidate, candidate], {
      transports: [stubborn],
      staggerMs: 0,
      signal: new AbortController().signal,
    });
    const all = await Promise.all(dialled);
    expect(all.filter((each) => !each.destroyed)).toEqual([socket]);
    socket.destroy();
  });

  it('tells every candidate and its error when all fail', async () => {
    const dead = await deadCandidate();
    const racing = dialRace([dead, { transport: 'pigeon', host: '::1', port: 2 }], {
      transports: [direct],
      signal: new AbortController().signal,
    });
    await expect(racing).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${dead.port} (direct), [::1]:2 (pigeon)`),
      detail: {
        attempts: [
          { transport: 'direct', address: `127.0.0.1:${dead.port}`, error: { code: 'PEER_UNREACHABLE' } },
          { transport: 'pigeon', address: '[::1]:2', error: { code: 'PEER_UNREACHABLE' } },
        ],
      },
    });
  });

  it('fails at once without candidates', async () => {
    const racing = dialRace([], { transports: [direct], signal: new AbortController().signal });
    await expect(racing).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('ends with the reason of the abort and gives every dial up', async () => {
    const silent = silentTransport();
    const controller = new AbortController();
    const reason = new Error('enough');
    const racing = dialRace([SILENT, SILENT], { transports: [silent], staggerMs: 60_000, signal: controller.signal });
    controller.abort(reason);
    await expect(racing).rejects.toBe(reason);
    expect(silent).toMatchObject({ dialled: 1, givenUp: 1 });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});
