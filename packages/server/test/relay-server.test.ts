// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { credentials, status } from '@grpc/grpc-js';
import { Open_Role, RendezvousClient } from '@keibidrop/proto';
import { afterEach, describe, expect, it } from 'vitest';
import { openRelayServer, type RelayServer, type RelayServerLimits } from '../src/index.ts';
import { DEFAULT_RELAY_LIMITS } from '../src/relay-limits.ts';
import { RawCall } from './loopback.ts';

const MAILBOX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const { signal } = new AbortController();

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

class Served {
  readonly server: RelayServer;
  readonly log: string[];

  static async open(limits: Partial<RelayServerLimits> = {}): Promise<Served> {
    const log: string[] = [];
    const options = { limits, log: { level: 'debug' as const, write: (line: string) => void log.push(line) }, signal };
    const server = await openRelayServer({ ...options, listen: { host: '127.0.0.1', port: 0 } });
    open.push(server);
    return new Served(server, log);
  }

  private constructor(server: RelayServer, log: string[]) {
    this.server = server;
    this.log = log;
  }

  /** @param from  source address on the loopback interface */
  async dial(bytes: string | Uint8Array, from = '127.0.0.1'): Promise<Socket> {
    const socket = connect({ port: this.server.port, host: '127.0.0.1', localAddress: from });
    open.push({ close: () => socket.destroy() });
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.write(bytes);
    return socket;
  }

  /** Sends a relay token of 32 times `byte`. */
  show(byte: number, from?: string): Promise<Socket> {
    return this.dial(Buffer.concat([Buffer.from('KEIBI-R1'), Buffer.alloc(32, byte)]), from);
  }

  call(): RawCall {
    const client = new RendezvousClient(`ipv4:127.0.0.1:${this.server.port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
    open.push(client);
    return new RawCall(client.join());
  }

  get(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.server.port}${path}`, init);
  }
}

/** The next bytes, or '' at the end. */
async function read(socket: Socket): Promise<string> {
  for (;;) {
    const bytes: Buffer | null = socket.read();
    if (bytes !== null) return bytes.toString('latin1');
    if (socket.readableEnded || socket.destroyed) return '';
    await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
}

/** Resolves when the socket closes for any reason. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve()));
}

async function pairOf(served: Served, byte: number): Promise<[Socket, Socket]> {
  const pair: [Socket, Socket] = [await served.show(byte), await served.show(byte)];
  for (const socket of pair) expect(await read(socket)).toBe('\x01');
  return pair;
}

describe('a relay server', () => {
  it('relays and lets peers meet on one port, and announces its relay', async () => {
    const served = await Served.open();
    const [one, other] = await pairOf(served, 1);
    one.write('sealed');
    expect(await read(other)).toBe('sealed');

    const owner = served.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    const seen = { host: '127.0.0.1', port: expect.any(Number) };
    const relay = { relay: true, relayHost: '', relayPort: 0, shared: false };
    const opened = { $case: 'opened', value: { ...seen, ...relay } };
    expect(await owner.next()).toEqual(opened);
    const guest = served.call();
    guest.open(MAILBOX);
    expect(await guest.next()).toEqual(opened);
    guest.body('hello');
    expect(await owner.next()).toMatchObject({ $case: 'body', value: { guest: 1 } });
  });

  it('closes control connections and lanes, which only peers serve', async () => {
    const served = await Served.open();
    for (const start of ['KEIBI-C1', `KEIBI-L1${'x'.repeat(60)}`]) {
      const socket = await served.dial(start);
      await closed(socket);
    }
  });

  it('reports why it cannot use a port', async () => {
    const { server } = await Served.open();
    const taken = openRelayServer({
      listen: { host: '127.0.0.1', port: server.port },
      log: { level: 'silent', write: () => {} },
      signal,
    });
    await expect(taken).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('EADDRINUSE'),
    });
  });

  it('logs no token, no mailbox and no body', async () => {
    const served = await Served.open();
    const [one] = await pairOf(served, 0x5a);
    one.write('SEALED BYTES');
    const owner = served.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    await owner.next();
    await served.dial('garbage');
    await served.server.close();
    const log = served.log.join('');
    expect(log).toContain('"kind":"rendezvous"');
    for (const secret of [MAILBOX, '5a5a', 'WlpaWlpa', 'ZZZZ', 'SEALED']) expect(log).not.toContain(secret);
  });
});

describe('limits of the rendezvous', () => {
  const limited = (limits: Partial<RelayServerLimits['rendezvous']>) =>
    Served.open({ rendezvous: { ...DEFAULT_RELAY_LIMITS.rendezvous, ...limits } });

  it('refuse a network that guesses mailboxes, even the right one', async () => {
    const served = await limited({ guessesPerMinute: 2 });
    const owner = served.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    await owner.next();
    const missing = served.call();
    missing.open(OTHER);
    expect((await missing.status).code).toBe(status.NOT_FOUND);
    const taken = served.call();
    taken.open(MAILBOX, Open_Role.OWNER);
    expect((await taken.status).code).toBe(status.ALREADY_EXISTS);
    const right = served.call();
    right.open(MAILBOX);
    expect((await right.status).code).toBe(status.RESOURCE_EXHAUSTED);
    expect(served.server.stats().rendezvous.guessesRefused).toBe(1);
  });

  it('apply to one network, and a released mailbox counts no more', async () => {
    const served = await limited({ mailboxesPerNetwork: 1 });
    const first = served.call();
    first.open(MAILBOX, Open_Role.OWNER);
    await first.next();
    const second = served.call();
    second.open(OTHER, Open_Role.OWNER);
    expect((await second.status).code).toBe(status.RESOURCE_EXHAUSTED);
    first.end();
    await first.status;
    const third = served.call();
    third.open(OTHER, Open_Role.OWNER);
    expect(await third.next()).toMatchObject({ $case: 'opened' });
  });

  it.each([{ connections: 1 }, { connectionsPerNetwork: 1 }])('refuse the newest connection for %o', async (limits) => {
    const served = await limited(limits);
    const owner = served.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    await owner.next();
    const one = await served.dial('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    await closed(one);
    expect(served.server.stats().rendezvous).toMatchObject({ connections: 1, connectionsRefused: 1, mailboxes: 1 });
  });
});

describe('limits of the relay', () => {
  it('apply to the networks around an address together, and do not affect other networks', async () => {
    const served = await Served.open({ relay: { ...DEFAULT_RELAY_LIMITS.relay, perAddress: 2 } });
    const ofOne: Socket[] = [];
    for (let index = 0; index < 12; index++) ofOne.push(await served.show(index, `127.0.7.${1 + index}`));
    await expect.poll(() => served.server.stats().relay).toMatchObject({ waiting: 8, refused: 4 });
    await served.show(100, '127.0.8.1');
    await expect.poll(() => served.server.stats().relay).toMatchObject({ waiting: 9, refused: 4 });
  });
});

describe('status pages', () => {
  it('report the observed address of a peer, and whether its port can be reached', async () => {
    const served = await Served.open();
    const seen = (await (await served.get('/observed')).json()) as { host: string; port: number };
    expect(seen).toEqual({ host: '127.0.0.1', port: expect.any(Number) });
    const reached = async (port: unknown) => {
      const answer = await served.get(`/reached?port=${port}`);
      return [answer.status, await answer.json()];
    };
    expect(await reached(served.server.port)).toEqual([200, { reached: true }]);
    expect(await reached(seen.port)).toEqual([200, { reached: false }]);
    for (const port of [80, 65536, 'x', '']) expect(await reached(port)).toEqual([400, {}]);
  });

  it('serve health and metrics, and nothing else', async () => {
    const served = await Served.open();
    const [one, other] = await pairOf(served, 1);
    one.write('x'.repeat(1000));
    expect(await read(other)).toHaveLength(1000);
    const healthy = await served.get('/healthz');
    expect([healthy.status, await healthy.text()]).toEqual([200, 'ok\n']);
    const garbage = await served.dial('garbage');
    await closed(garbage);

    const response = await served.get('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const metrics = await response.text();
    expect(metrics).toMatch(/^keibidrop_relay_pairs 1$/m);
    expect(metrics).toMatch(/^keibidrop_relay_joined_total 1$/m);
    expect(metrics).toMatch(/^keibidrop_relay_bytes_total 1000$/m);
    expect(metrics).toMatch(/^keibidrop_dropped_total\{reason="malformed"\} 1$/m);
    expect(metrics).toMatch(/^process_cpu_seconds_total /m);
    expect((await served.get('/')).status).toBe(404);
    expect(await (await served.get('/healthz', { method: 'HEAD' })).text()).toBe('');
  });

  it('report health while incomplete requests are held open, and count those they end', async () => {
    const served = await Served.open({ requests: 8 });
    for (let index = 0; index < 20; index++) await served.dial('GET /he', `127.0.${10 + index}.1`);
    expect((await served.get('/healthz')).status).toBe(200);
    for (let index = 0; index < 4; index++) await served.dial('GET /he');
    expect((await served.get('/healthz')).status).toBe(200);
    await expect.poll(() => served.server.stats().pages.crowdedOut).toBeGreaterThanOrEqual(16);
    expect(await (await served.get('/metrics')).text()).toMatch(
      /^keibidrop_dropped_total\{reason="http_crowded_out"\} /m,
    );
  });

  it('are refused to a network with too many answers in progress', async () => {
    const served = await Served.open({ requests: 8 });
    // Three requests in one packet: all are read before the first is answered.
    const request = `GET /reached?port=${served.server.port} HTTP/1.1\r\nhost: peer\r\n\r\n`;
    expect(await read(await served.dial(request.repeat(3)))).toMatch(/^HTTP\/1\.1 200 /);
    expect(served.server.stats().pages.busy).toBe(2);
  });

  it('refuse a request that is not HTTP or too long, and keep serving', async () => {
    const served = await Served.open();
    for (const text of ['GET nonsense\r\n\r\n', `GET / HTTP/1.1\r\na: ${'x'.repeat(20_000)}\r\n\r\n`]) {
      const socket = await served.dial(text);
      await closed(socket);
    }
    expect((await served.get('/healthz')).status).toBe(200);
  });
});

describe('draining', () => {
  it('admits no more peers, reports 503, and waits for running pairs', async () => {
    const served = await Served.open();
    const [one, other] = await pairOf(served, 1);
    const drained = served.server.drain();
    expect(await read(await served.show(2))).toBe('\x02');
    const owner = served.call();
    owner.open(MAILBOX, Open_Role.OWNER);
    expect((await owner.status).code).toBe(status.RESOURCE_EXHAUSTED);
    expect((await served.get('/healthz')).status).toBe(503);
    one.write('still');
    expect(await read(other)).toBe('still');
    one.end();
    other.end();
    await drained;
    expect(served.server.stats().relay.pairs).toBe(0);
  });

  it('ends after a bounded time', async () => {
    const served = await Served.open({ drainMs: 50 });
    const [one] = await pairOf(served, 1);
    await served.server.drain();
    await served.server.close();
    await closed(one);
  });
});
