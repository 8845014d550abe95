// SPDX-License-Identifier: MPL-2.0
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { openSession, type PeerHandlers, RekeyResponder, rekey, type Session } from '../src/index.ts';
import { agreedKeys, connectedSockets } from './loopback.ts';

const NO_CALLS: PeerHandlers = {
  transfer: (call) => call.emit('error', { code: status.UNIMPLEMENTED, details: 'no transfers here' }),
  digests: (call) => call.emit('error', { code: status.UNIMPLEMENTED, details: 'no digests here' }),
};

const open: Session[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((session) => session.close()));
});

type Reported = [number, string];

/** An initiator's session with a responder that rekeys and records the secrets it gets. */
async function sessions(): Promise<{ initiator: Session; reported: Reported[] }> {
  const sockets = await connectedSockets();
  const keys = agreedKeys();
  const reported: Reported[] = [];
  const responder = new RekeyResponder((number, secret) => reported.push([number, hex(secret)]));
  const { signal } = new AbortController();
  const initiator = openSession(sockets[0], keys[0], 'initiator', { peerService: NO_CALLS, signal });
  const peerService = { ...NO_CALLS, rekey: responder.rekey, rekeyReady: responder.rekeyReady };
  open.push(initiator, openSession(sockets[1], keys[1], 'responder', { peerService, signal }));
  return { initiator, reported };
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('a rekey', () => {
  it('gives both sides one secret, a new one each time', async () => {
    const { initiator, reported } = await sessions();
    const own: Reported[] = [];
    for (const number of [1, 2, 3]) await rekey(initiator.client, number, (n, secret) => own.push([n, hex(secret)]));
    expect(reported).toEqual(own);
    expect(new Set(own.map(([, secret]) => secret)).size).toBe(3);
  });

  it('reaches the initiator’s readers before the responder’s writers', async () => {
    const { initiator, reported } = await sessions();
    await rekey(initiator.client, 1, () => expect(reported).toEqual([]));
    expect(reported).toHaveLength(1);
  });

  it.each([0, 2, 256])('is refused under number %i when the next is 1', async (number) => {
    const { initiator, reported } = await sessions();
    await expect(rekey(initiator.client, number, () => {})).rejects.toThrow();
    expect(reported).toEqual([]);
  });

  it('cannot be made ready twice, or before it is agreed on', async () => {
    const { initiator, reported } = await sessions();
    const ready = (number: number) =>
      new Promise<number>((resolve) => initiator.client.rekeyReady({ number }, (error) => resolve(error?.code ?? 0)));
    expect(await ready(1)).toBe(status.INVALID_ARGUMENT);
    await rekey(initiator.client, 1, () => {});
    expect(await ready(1)).toBe(status.INVALID_ARGUMENT);
    expect(reported).toHaveLength(1);
  });

  it.each([
    ['a share of another length', { x25519: new Uint8Array(31), kemKey: new Uint8Array(1568) }],
    ['a share that makes the secret zero', { x25519: new Uint8Array(32), kemKey: new Uint8Array(1568) }],
    ['a key of another length', { x25519: Uint8Array.of(9, ...new Uint8Array(31)), kemKey: new Uint8Array(7) }],
  ])('refuses %s', async (_what, shares) => {
    const { initiator, reported } = await sessions();
    const code = await new Promise((resolve) =>
      initiator.client.rekey({ number: 1, ...shares }, (error) => resolve(error?.details)),
    );
    expect(code).toBe('HANDSHAKE_MALFORMED');
    expect(reported).toEqual([]);
  });

  it('is refused by a side that sends nothing', async () => {
    const sockets = await connectedSockets();
    const keys = agreedKeys();
    const { signal } = new AbortController();
    const initiator = openSession(sockets[0], keys[0], 'initiator', { peerService: NO_CALLS, signal });
    open.push(initiator, openSession(sockets[1], keys[1], 'responder', { peerService: NO_CALLS, signal }));
    await expect(rekey(initiator.client, 1, () => {})).rejects.toThrow();
  });
});
