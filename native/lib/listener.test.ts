// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { closeSync, readdirSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Incoming, Listener } from './index.ts';

const listeners: Listener[] = [];
const sockets: Socket[] = [];

/** Opens many connections, 100 at a time. Counts those that sent their preamble, and those that were closed. */
const DIAL_MANY = `
const { connect } = require('node:net');
const { workerData: { port, count, counts } } = require('node:worker_threads');
const add = (index) => {
  Atomics.add(counts, index, 1);
  Atomics.notify(counts, index);
};
let dialled = 0;
function dial() {
  if (dialled++ >= count) return;
  const socket = connect(port, '127.0.0.1', () => socket.write('KEIBI-C1', () => (add(0), dial())));
  socket.on('error', () => {}).resume().once('close', () => add(1));
}
for (let i = 0; i < 100; i++) dial();`;

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const listener of listeners.splice(0)) await listener.close();
});

function listen(onConnection: (incoming: Incoming) => void, host = '127.0.0.1', http = false): Listener {
  const listener = Listener.open({ host, port: 0, http, onConnection });
  listeners.push(listener);
  return listener;
}

function socketOf(incoming: Incoming): Socket {
  const socket = new Socket({ fd: incoming.fd, readable: true, writable: true });
  sockets.push(socket);
  return socket;
}

async function dial(listener: Listener, start: string, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(listener.port, host);
  sockets.push(socket);
  socket.on('error', () => {}); // a refused connection may end with a reset
  await once(socket, 'connect');
  socket.write(start);
  return socket;
}

/** Resolves once `socket` has closed, in any way. */
function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve()));
}

it('hands a control connection over after its preamble', async () => {
  const onConnection = vi.fn((incoming: Incoming) => {
    const socket = socketOf(incoming);
    socket.on('data', (bytes) => socket.end(`got ${bytes}`));
  });
  const dialler = await dial(listen(onConnection), 'KEIBI-C1hello');
  const { localPort } = dialler;
  expect(await text(dialler)).toBe('got hello');
  expect(onConnection).toHaveBeenCalledExactlyOnceWith({
    kind: 'control',
    fd: expect.any(Number),
    remoteAddress: '127.0.0.1',
    remotePort: localPort,
    relayed: false,
  });
});

it('hands a rendezvous connection over unread', async () => {
  const arrived = vi.fn<(bytes: string) => void>();
  const listener = listen((incoming) => {
    expect(incoming.kind).toBe('rendezvous');
    socketOf(incoming).on('data', (bytes) => arrived(String(bytes)));
  });
  await dial(listener, 'PRI * HTTP/2.0\r\n\r\n');
  await vi.waitFor(() => expect(arrived).toHaveBeenCalledWith('PRI * HTTP/2.0\r\n\r\n'), 240_000);
});

it.each(['GET / HTTP/1.1\r\n\r\n', `KEIBI-L1${'\0'.repeat(53)}`, 'KEIBI-C2'])(
  'closes a connection that begins %j',
  async (start) => {
    const onConnection = vi.fn();
    const dialler = await dial(listen(onConnection), start);
    await ended(dialler);
    expect(onConnection).not.toHaveBeenCalled();
  },
);

it('hands an HTTP connection over unread if enabled', async () => {
  const onConnection = vi.fn((incoming: Incoming) =>
    socketOf(incoming).once('data', (bytes) => arrived(String(bytes))),
  );
  const arrived = vi.fn<(bytes: string) => void>();
  await dial(listen(onConnection, '127.0.0.1', true), 'GET / HTTP/1.1\r\n');
  await vi.waitFor(() => expect(arrived).toHaveBeenCalledWith('GET / HTTP/1.1\r\n'), 240_000);
  expect(onConnection.mock.calls[0]?.[0].kind).toBe('http');
});

describe('a relay', () => {
  const LIMITS = {
    pairs: 10,
    waiting: 10,
    perAddress: 10,
    waitMs: 10_000,
    idleMs: 10_000,
    lifetimeMs: 10_000,
    bytesPerSecond: 0,
  };
  const token = new Uint8Array(32).fill(0x61);
  const HELLO = `KEIBI-R1${'a'.repeat(32)}`;

  it('joins a listener that dials out with the side that shows the same token', async () => {
    const relay = listen(() => {});
    relay.serveRelay(LIMITS);
    const onConnection = vi.fn((incoming: Incoming) => void socketOf(incoming).end('hello'));
    const sender = listen(onConnection);
    const joined = sender.joinRelay({ host: '127.0.0.1', port: relay.port, token, waitMs: 10_000 });
    const receiver = await dial(relay, HELLO);
    await joined;
    receiver.write('KEIBI-C1');
    expect(await text(receiver)).toBe('\x01hello');
    expect(onConnection.mock.calls[0]?.[0]).toMatchObject({ kind: 'control', relayed: true, remotePort: relay.port });
    expect(relay.relayStats()).toMatchObject({ joined: 1, refused: 0, expired: 0, cut: 0, malformed: 0 });
  });

  it('reports why it could not be joined', async () => {
    const relay = listen(() => {});
    const sender = listen(() => {});
    const join = (waitMs = 10_000, port = relay.port) => sender.joinRelay({ host: '127.0.0.1', port, token, waitMs });
    await expect(join()).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    relay.serveRelay({ ...LIMITS, waiting: 0 });
    await expect(join()).rejects.toMatchObject({ code: 'RENDEZVOUS_BUSY' });
    relay.serveRelay({ ...LIMITS, waitMs: 50 });
    await expect(join()).rejects.toMatchObject({ code: 'HANDSHAKE_TIMEOUT' });
    relay.serveRelay(LIMITS);
    await expect(join(50)).rejects.toMatchObject({ code: 'HANDSHAKE_TIMEOUT' });
    await expect(join(10_000, 1)).rejects.toMatchObject({ code: 'PEER_UNREACHABLE', errnoName: 'ECONNREFUSED' });
    const cancelled = expect(join()).rejects.toMatchObject({ code: 'CANCELLED' });
    await sender.close();
    await cancelled;
    await expect(join()).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('is closed at once on an abort, and forgotten by the relay', async () => {
    const relay = listen(() => {});
    relay.serveRelay(LIMITS);
    const sender = listen(() => {});
    const place = { host: '127.0.0.1', port: relay.port, token, waitMs: 10_000 };
    const controller = new AbortController();
    const { signal } = controller;
    const joining = sender.joinRelay(place, { signal });
    await vi.waitFor(() => expect(relay.relayStats().waiting).toBe(1), 240_000);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(joining).rejects.toBe(reason);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await vi.waitFor(() => expect(relay.relayStats().waiting).toBe(0), 240_000);
    await expect(sender.joinRelay(place, { signal })).rejects.toBe(reason);
  });

  it('refuses arguments that would break native code', async () => {
    const relay = listen(() => {});
    const place = { host: '127.0.0.1', port: 1, token, waitMs: 1 };
    for (const wrong of [{ host: 'example.org' }, { port: 0 }, { token: new Uint8Array(31) }, { waitMs: 0 }]) {
      await expect(relay.joinRelay({ ...place, ...wrong })).rejects.toMatchObject({ code: 'INTERNAL' });
    }
    expect(() => relay.serveRelay({ ...LIMITS, pairs: -1 })).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  });
});

it.each(['127.0.0.1', '::1', '::', 'localhost'])('listens on %s', async (host) => {
  const onConnection = vi.fn((incoming: Incoming) => closeSync(incoming.fd));
  const listener = listen(onConnection, host);
  const dialler = await dial(listener, 'KEIBI-C1', host.includes(':') ? '::1' : '127.0.0.1');
  await ended(dialler);
  expect(onConnection).toHaveBeenCalledOnce();
});

it('reports the system error code when it cannot listen', () => {
  const taken = listen(() => {}).port;
  const open = (host: string, port: number) => () => Listener.open({ host, port, onConnection() {} });
  expect(open('127.0.0.1', taken)).toThrow(
    expect.objectContaining({ code: 'EADDRINUSE', syscall: 'listen', errno: expect.any(Number) }),
  );
  expect(open('192.0.2.1', 0)).toThrow(expect.objectContaining({ code: 'EADDRNOTAVAIL' }));
});

it('refuses arguments that would break native code', () => {
  const onConnection = () => {};
  const calls = [
    () => Listener.open({ host: 'example.org', port: 0, onConnection }),
    () => Listener.open({ host: 7 as unknown as string, port: 0, onConnection }),
    () => Listener.open({ host: '127.0.0.1', port: 65536, onConnection }),
    () => Listener.open({ host: '127.0.0.1', port: -1, onConnection }),
    () => Listener.open({ host: '127.0.0.1', port: 0, onConnection: undefined as unknown as () => void }),
  ];
  for (const call of calls) expect(call).toThrow(expect.objectContaining({ name: 'TypeError', code: 'INTERNAL' }));
});

it('frees its port and closes its connections when closed, even twice', async () => {
  const listener = listen(() => {});
  const silent = await dial(listener, 'KEIBI-');
  await listener.close();
  await listener.close();
  await ended(silent);
  await expect(dial(listener, '')).rejects.toThrow(expect.objectContaining({ code: 'ECONNREFUSED' }));
});

it('calls nothing back after close(), and closes connections still waiting for a callback', async () => {
  const onConnection = vi.fn();
  const descriptors = () => readdirSync('/proc/self/fd').length;
  execFileSync(process.execPath, ['-v']); // the first child process permanently costs this process two descriptors
  const before = descriptors();
  const listener = listen(onConnection);
  // This thread blocks until the other process is accepted, so the callback is still queued.
  const dialler = `require('net').connect(${listener.port}, '127.0.0.1', function () { this.write('KEIBI-C1', () => process.exit()) })`;
  execFileSync(process.execPath, ['-e', dialler]);
  await listener.close();
  await vi.waitFor(() => expect(descriptors()).toBe(before), 240_000);
  expect(onConnection).not.toHaveBeenCalled();
});

it('closes none of 1000 connections that arrive while this thread is busy', async () => {
  const count = 1000;
  const arrived = new Set<number>();
  const listener = listen((incoming) => {
    socketOf(incoming);
    arrived.add(incoming.remotePort);
  });
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const [said, ended] = [() => Atomics.load(counts, 0), () => Atomics.load(counts, 1)];
  const dialling = new Worker(DIAL_MANY, { eval: true, workerData: { port: listener.port, count, counts } });
  try {
    // No callback can run before this thread returns to its loop.
    for (let seen = 0; seen < count; seen = said()) Atomics.wait(counts, 0, seen, 60_000);
    await vi.waitFor(() => expect(arrived.size + ended()).toBeGreaterThanOrEqual(count), 60_000);
    expect({ arrived: arrived.size, ended: ended() }).toEqual({ arrived: count, ended: 0 });
    expect(listener.relayStats()).toMatchObject({ malformed: 0, slow: 0, crowdedOut: 0 });
  } finally {
    await dialling.terminate();
  }
}, 120_000);
