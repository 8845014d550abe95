// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Suite } from '@keibidrop/protocol';
import type { Keys } from '../src/index.ts';

type AgreedKeys = Omit<Keys, 'wipe' | 'returning' | 'guestSecret'>;

/** The two ends of a TCP connection on loopback. */
export async function connectedSockets(): Promise<[Socket, Socket]> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const dialled = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  const [accepted] = (await once(listener, 'connection')) as [Socket];
  if (dialled.connecting) await once(dialled, 'connect');
  listener.close();
  return [dialled, accepted];
}

/** The keys that a handshake would give the initiator and the responder. */
export function agreedKeys(suite: Suite = 'aes-256-gcm'): [AgreedKeys, AgreedKeys] {
  const ours = new Uint8Array(32).fill(1);
  const theirs = new Uint8Array(32).fill(2);
  const shared = { suite, laneSecret: new Uint8Array(32).fill(3), sessionId: new Uint8Array(16).fill(4) };
  return [
    { ...shared, writeKey: ours, readKey: theirs },
    { ...shared, writeKey: theirs, readKey: ours },
  ];
}
