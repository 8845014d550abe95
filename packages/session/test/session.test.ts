// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { EventEmitter, getEventListeners, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Metadata, status } from '@grpc/grpc-js';
import type { ReceiverMessage, SenderMessage } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import { build } from 'esbuild';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type HeartbeatTimes, openSession, type PeerHandlers, type Session } from '../src/index.ts';
import { agreedKeys, connectedSockets } from './loopback.ts';

const ADDON = '../../../native/build/keibidrop.node';

const NO_CALLS: PeerHandlers = {
  transfer: (call) => call.emit('error', { code: status.UNIMPLEMENTED, details: 'no transfers here' }),
  digests: (call) => call.emit('error', { code: status.UNIMPLEMENTED, details: 'no digests here' }),
};

const open: Session[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((session) => session.close()));
});

interface PairOptions {
  initiator?: Partial<PeerHandlers>;
  responder?: Partial<PeerHandlers>;
  heartbeat?: Partial<HeartbeatTimes>;
  signal?: AbortSignal;
}

async function pair(options: PairOptions = {}): Promise<[Session, Session, [Socket, Socket]]> {
  const sockets = await connectedSockets();
  const keys = agreedKeys();
  const { heartbeat, signal = new AbortController().signal } = options;
  const shared = { signal, ...(heartbeat && { heartbeat }) };
  const initiator = openSession(sockets[0], keys[0], 'initiator', {
    peerService: { ...NO_CALLS, ...options.initiator },
    ...shared,
  });
  const responder = openSession(sockets[1], keys[1], 'responder', {
    peerService: { ...NO_CALLS, ...options.responder },
    ...shared,
  });
  open.push(initiator, responder);
  return [initiator, responder, sockets];
}

function beat(session: Session): Promise<number> {
  return new Promise((resolve, reject) => {
    session.client.heartbeat({ sequence: 42 }, (error, reply) => (error ? reject(error) : resolve(reply.sequence)));
  });
}

const page = (bytes: number): SenderMessage => ({
  body: { $case: 'page', value: { firstEntry: 0, count: 1, entries: new Uint8Array(bytes).fill(5) } },
});

describe('the control plane', () => {
  it('answers calls from both sides over one connection', async () => {
    const [initiator, responder] = await pair();
    expect(await Promise.all([beat(initiator), beat(responder)])).toEqual([42, 42]);
  });

  it('carries one transfer with its messages in order in both directions, and its end', async () => {
    const [, responder] = await pair({
      initiator: {
        async transfer(call) {
          let bytes = 0;
          for await (const { body } of call.iterator({ destroyOnReturn: false })) {
            if (body.$case === 'page') bytes += body.value.entries.length;
            call.write({ body: { $case: 'progress', value: { files: 0, bytes, lanes: [] } } });
          }
          call.end();
        },
      },
    });
    const call = responder.client.transfer();
    const ended = once(call, 'status');
    for (let count = 0; count < 40; count++) call.write(page(256 * 1024));
    call.end();
    const heard: number[] = [];
    for await (const { body } of call as AsyncIterable<ReceiverMessage>) {
      if (body?.$case === 'progress') heard.push(body.value.bytes);
    }
    expect(heard).toEqual(Array.from({ length: 40 }, (_, index) => (index + 1) * 256 * 1024));
    expect((await ended)[0]).toMatchObject({ code: status.OK });
  });

  it('gives the caller the code, the words and the metadata of a failure', async () => {
    const metadata = new Metadata();
    metadata.set('keibidrop-code', 'TRANSFER_DISK_FULL');
    const [, responder] = await pair({
      initiator: {
        transfer: (call) =>
          call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'voll: 100 % – «ü»', metadata }),
      },
    });
    const call = responder.client.transfer();
    call.resume();
    const [error] = await once(call, 'error');
    expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: 'voll: 100 % – «ü»' });
    expect(error.metadata.get('keibidrop-code')).toEqual(['TRANSFER_DISK_FULL']);
  });

  it('notifies the served side when the caller cancels', async () => {
    const served = new EventEmitter();
    const [, responder] = await pair({
      initiator: {
        transfer: (call) => {
          call.once('cancelled', () => served.emit('cancelled'));
          call.write({ body: { $case: 'accept', value: { label: 'x' } } });
        },
      },
    });
    const call = responder.client.transfer();
    call.on('error', () => {});
    await once(call, 'data');
    const cancelled = once(served, 'cancelled');
    call.cancel();
    await cancelled;
  });

  it('ends a call at its deadline', async () => {
    const [, responder] = await pair({ initiator: { transfer: () => {} } });
    const call = responder.client.transfer({ deadline: Date.now() + 50 });
    call.resume();
    expect((await once(call, 'error'))[0]).toMatchObject({ code: status.DEADLINE_EXCEEDED });
  });

  it('refuses a message over the limit on the way out', async () => {
    const [, responder] = await pair({ initiator: { transfer: (call) => void call.resume() } });
    const call = responder.client.transfer();
    call.write(page(2 * 1024 * 1024));
    call.resume();
    expect((await once(call, 'error'))[0]).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining('too long to send'),
    });
  });

  it('applies backpressure to a sender, but only after a long link would be full', async () => {
    const [, responder] = await pair({ initiator: { transfer: () => {} } });
    const call = responder.client.transfer();
    call.on('error', () => {});
    const left = new EventEmitter();
    let pages = 0;
    for (let count = 0; count < 200; count++) call.write(page(256 * 1024), () => left.emit(`${++pages}`));
    await once(left, '24');
    for (let count = 0; count < 50; count++) await beat(responder);
    expect(pages).toBeLessThan(40);
    call.cancel();
  });

  it('applies backpressure to the served side when its replies are not read', async () => {
    const left = new EventEmitter();
    let replies = 0;
    const wanted = new Uint8Array(256 * 1024);
    const [, responder] = await pair({
      initiator: {
        transfer: (call) => {
          const answer: ReceiverMessage = {
            body: { $case: 'answer', value: { firstEntry: 0, count: 1, wanted, partials: [] } },
          };
          for (let count = 0; count < 200; count++) call.write(answer, () => left.emit(`${++replies}`));
        },
      },
    });
    const call = responder.client.transfer();
    call.on('error', () => {});
    // Read-ahead has begun, and ends when the stream's own buffer is full.
    await once(call, 'readable');
    await once(left, '40');
    for (let count = 0; count < 100; count++) await beat(responder);
    expect(replies).toBeLessThan(120);
    call.cancel();
  });

  it('fails running and later calls when the connection is lost', async () => {
    const [, responder, sockets] = await pair({ initiator: { transfer: () => {} } });
    const call = responder.client.transfer();
    call.resume();
    await beat(responder);
    const failed = once(call, 'error');
    sockets[0].destroy();
    expect((await failed)[0]).toMatchObject({ code: status.UNAVAILABLE });
    expect(await responder.closed).toMatchObject({ code: 'SESSION_LOST' });
    await expect(beat(responder)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });
});

describe('the end of a session', () => {
  it('is clean for both after a goodbye of one', async () => {
    const [initiator, responder] = await pair();
    await initiator.close();
    expect(await initiator.closed).toBeUndefined();
    expect(await responder.closed).toBeUndefined();
  });

  it('needs no timer when both sides respond', async () => {
    const [initiator, responder] = await pair();
    await beat(initiator);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      await initiator.close();
      expect(await responder.closed).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('is clean when both say goodbye at once', async () => {
    const [initiator, responder] = await pair();
    await Promise.all([initiator.close(), responder.close(), initiator.close()]);
    expect(await Promise.all([initiator.closed, responder.closed])).toEqual([undefined, undefined]);
  });

  it('sends the peer the reason', async () => {
    const [initiator, responder] = await pair();
    const reason = new KeibiError('TRANSFER_DISK_FULL');
    await initiator.close(reason);
    expect(await initiator.closed).toBe(reason);
    expect(await responder.closed).toMatchObject({
      code: 'SESSION_CLOSED',
      detail: { remote: true, reason: 'TRANSFER_DISK_FULL' },
    });
  });

  it('is a decline by its own name, even when the goodbye arrives before the decline', async () => {
    const [initiator, responder] = await pair();
    await initiator.close(new KeibiError('OFFER_DECLINED'));
    expect(await responder.closed).toMatchObject({ code: 'OFFER_DECLINED', detail: { remote: true } });
  });

  it('reports an unknown reason as PEER_FAILED', async () => {
    const [initiator, responder] = await pair();
    await new Promise((resolve) => initiator.client.goodbye({ code: 'toString' }, resolve));
    void responder.close();
    expect(await responder.closed).toMatchObject({ code: 'SESSION_CLOSED', detail: { reason: 'PEER_FAILED' } });
  });

  it('ends running calls', async () => {
    const [initiator, responder] = await pair({ initiator: { transfer: () => {} } });
    const call = responder.client.transfer();
    call.resume();
    await beat(responder);
    const failed = once(call, 'error');
    await initiator.close();
    expect((await failed)[0]).toMatchObject({ code: status.UNAVAILABLE });
  });

  it('comes soon when the peer is silent', async () => {
    const [socket, other] = await connectedSockets();
    const session = openSession(socket, agreedKeys()[0], 'initiator', {
      peerService: NO_CALLS,
      signal: new AbortController().signal,
    });
    const before = Date.now();
    await session.close();
    // Heartbeats would end it after 15 s.
    expect(Date.now() - before).toBeLessThan(10_000);
    expect(await session.closed).toMatchObject({ code: 'SESSION_LOST' });
    other.destroy();
  });

  it('comes at once by the signal and leaves no listener on it', async () => {
    const controller = new AbortController();
    const [initiator, responder] = await pair({ signal: controller.signal });
    await beat(initiator);
    const reason = new KeibiError('CANCELLED', 'Ctrl-C');
    controller.abort(reason);
    expect(await initiator.closed).toBe(reason);
    expect(await responder.closed).toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('leaves no listener on the signal after a goodbye', async () => {
    const controller = new AbortController();
    const [initiator, responder] = await pair({ signal: controller.signal });
    await initiator.close();
    await responder.closed;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('is refused with an aborted signal', async () => {
    const [socket, other] = await connectedSockets();
    const signal = AbortSignal.abort();
    const options = { peerService: NO_CALLS, signal };
    expect(() => openSession(socket, agreedKeys()[0], 'initiator', options)).toThrow(signal.reason);
    socket.destroy();
    other.destroy();
  });
});

describe('the heartbeat', () => {
  it('ends a session whose peer stopped answering, after the last of three beats', async () => {
    const [socket, silent] = await connectedSockets();
    silent.resume();
    const session = openSession(socket, agreedKeys()[0], 'initiator', {
      peerService: NO_CALLS,
      signal: new AbortController().signal,
      heartbeat: { intervalMs: 20, timeoutMs: 20 },
    });
    const before = Date.now();
    expect(await session.closed).toMatchObject({ code: 'SESSION_LOST', message: 'The peer stopped answering.' });
    // One interval, then three beats, each awaited until the next.
    expect(Date.now() - before).toBeGreaterThanOrEqual(75);
    silent.destroy();
  });

  it('keeps a session whose peer answers', async () => {
    const [initiator, responder] = await pair({ heartbeat: { intervalMs: 5, timeoutMs: 1000 } });
    for (let count = 0; count < 100; count++) await beat(initiator);
    await initiator.close();
    expect(await responder.closed).toBeUndefined();
  });
});

it('lets its process exit by itself once both sides are closed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keibidrop-session-'));
  try {
    const outfile = join(directory, 'both-sides.mjs');
    const entry = fileURLToPath(new URL('./both-sides.ts', import.meta.url));
    const banner = {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    };
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      banner,
    });
    const env = { KD_NATIVE_BINDING: fileURLToPath(new URL(ADDON, import.meta.url)), ...process.env };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env, timeout: 240_000 });
    expect(stdout).toBe('closed\n');
  } finally {
    await rm(directory, { recursive: true });
  }
});
