// SPDX-License-Identifier: MPL-2.0
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createDirectTransport,
  type DialRaceOptions,
  type ProofOptions,
  dialRace as race,
  type Transport,
} from '../src/index.ts';

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

/** A candidate whose port has no listener. */
async function deadCandidate(): Promise<Candidate> {
  const { server, candidate } = await listen();
  server.close();
  await once(server, 'close');
  return candidate;
}

/** A transport whose dials get no answer until they are given up. */
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

/** A race won by the first connection, unless `prove` decides otherwise. */
function dialRace(candidates: readonly Candidate[], options: Omit<DialRaceOptions<void>, 'prove'> & { prove?: Proof }) {
  return race(candidates, { prove: async (_socket, { win }) => win(), ...options });
}

type Proof = (socket: Socket, options: ProofOptions) => Promise<void>;

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

  it('dials the next candidate at once when one fails', async () => {
    const { candidate } = await listen();
    const { socket, candidate: winner } = await dialRace([await deadCandidate(), await deadCandidate(), candidate], {
      transports: [direct],
      staggerMs: 60_000,
      signal: new AbortController().signal,
    });
    expect(winner).toBe(candidate);
    socket.destroy();
  });

  it('dials the next while one does not answer, and gives the silent one up when the next wins', async () => {
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

  it('closes a connection that arrives after the winner', async () => {
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

  it('reports every candidate with its error when all fail', async () => {
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

  it('rejects with the reason of the abort and gives up every dial', async () => {
    const silent = silentTransport();
    const controller = new AbortController();
    const reason = new Error('enough');
    const racing = dialRace([SILENT, SILENT], { transports: [silent], staggerMs: 60_000, signal: controller.signal });
    controller.abort(reason);
    await expect(racing).rejects.toBe(reason);
    expect(silent).toMatchObject({ dialled: 1, givenUp: 1 });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('is not won by a stranger that connects first', async () => {
    const [somebodyElse, peer] = [await listen(), await listen()];
    const stranger = new KeibiError('HANDSHAKE_MALFORMED');
    const { socket, candidate, attempts } = await dialRace([somebodyElse.candidate, peer.candidate], {
      transports: [direct],
      staggerMs: 60_000,
      prove: async (connected, { win }) => {
        if (connected.remotePort === somebodyElse.candidate.port) throw stranger;
        win();
      },
      signal: new AbortController().signal,
    });
    expect(candidate).toBe(peer.candidate);
    expect(attempts).toEqual([
      { transport: 'direct', address: `127.0.0.1:${somebodyElse.candidate.port}`, error: stranger },
    ]);
    socket.destroy();
  });

  it('lets one of two simultaneous proofs win, and lists the other as an attempt', async () => {
    const { candidate } = await listen();
    const other = { ...candidate, host: 'localhost' };
    const proving: ProofOptions[] = [];
    let refused: unknown;
    const { socket, attempts } = await dialRace([candidate, other], {
      transports: [direct],
      staggerMs: 0,
      prove: async (_socket, options) => {
        proving.push(options);
        if (proving.length < 2) return new Promise(() => {});
        proving[1]?.win();
        try {
          proving[0]?.win();
        } catch (reason) {
          refused = reason;
        }
      },
      signal: new AbortController().signal,
    });
    expect(refused).toMatchObject({ code: 'CANCELLED' });
    expect(attempts).toMatchObject([
      { error: { code: 'PEER_UNREACHABLE', message: expect.stringContaining('No answer') } },
    ]);
    expect(proving.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    socket.destroy();
  });

  it('rejects with the error of the only candidate', async () => {
    const { candidate } = await listen();
    const lost = new KeibiError('SESSION_LOST');
    const options = { transports: [direct], prove: () => Promise.reject(lost), signal: new AbortController().signal };
    await expect(dialRace([candidate], options)).rejects.toBe(lost);
    await expect(dialRace([candidate, candidate], options)).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  });

  it('reports a peer without a common cipher suite before any other failure', async () => {
    const { candidate } = await listen();
    const prove = () => Promise.reject(new KeibiError('HANDSHAKE_NO_COMMON_SUITE'));
    const racing = dialRace([await deadCandidate(), candidate], {
      transports: [direct],
      prove,
      signal: new AbortController().signal,
    });
    await expect(racing).rejects.toMatchObject({ code: 'HANDSHAKE_NO_COMMON_SUITE' });
  });

  it('dials a relay last, wherever it is listed, and at once if nothing else is left', async () => {
    const relay: Transport = { ...direct, name: 'relay' };
    const { candidate } = await listen();
    const { socket, candidate: winner } = await dialRace(
      [{ ...candidate, transport: 'relay' }, await deadCandidate(), await deadCandidate()],
      {
        transports: [direct, relay],
        staggerMs: 60_000,
        relayHeadStartMs: 60_000,
        signal: new AbortController().signal,
      },
    );
    expect(winner.transport).toBe('relay');
    socket.destroy();
  });

  it('does not dial a relay during the head start while a direct candidate is pending', async () => {
    const dialled: Candidate[] = [];
    const relay: Transport = {
      ...direct,
      name: 'relay',
      dial(target, options) {
        dialled.push(target);
        return direct.dial(target, options);
      },
    };
    const { candidate } = await listen();
    const { socket, candidate: winner } = await dialRace([candidate, { ...candidate, transport: 'relay' }], {
      transports: [direct, relay],
      staggerMs: 0,
      relayHeadStartMs: 60_000,
      prove: async (_socket, { win }) => {
        await sleep(20);
        win();
      },
      signal: new AbortController().signal,
    });
    expect({ winner, dialled }).toEqual({ winner: candidate, dialled: [] });
    socket.destroy();
  });

  it('dials a relay after the head start, even if other candidates are pending', async () => {
    const relay: Transport = { ...direct, name: 'relay' };
    const silent = silentTransport();
    const { candidate } = await listen();
    const { socket, attempts } = await dialRace([SILENT, SILENT, { ...candidate, transport: 'relay' }], {
      transports: [silent, relay],
      staggerMs: 60_000,
      relayHeadStartMs: 5,
      signal: new AbortController().signal,
    });
    expect(silent).toMatchObject({ dialled: 1, givenUp: 1 });
    expect(attempts).toMatchObject([{ transport: 'silent' }]);
    socket.destroy();
  });
});
