// SPDX-License-Identifier: MPL-2.0

// A process that holds both sides of a session, closes them, and has nothing left to do. It must not call process.exit.
import { status } from '@grpc/grpc-js';
import { openSession, type PeerHandlers } from '../src/index.ts';
import { agreedKeys, connectedSockets } from './loopback.ts';

const peerService: PeerHandlers = {
  transfer: (call) => call.emit('error', { code: status.UNIMPLEMENTED }),
  digests: (call) => call.emit('error', { code: status.UNIMPLEMENTED }),
};

async function main(): Promise<void> {
  const [dialled, accepted] = await connectedSockets();
  const keys = agreedKeys();
  const { signal } = new AbortController();
  const initiator = openSession(dialled, keys[0], 'initiator', { peerService, signal });
  const responder = openSession(accepted, keys[1], 'responder', { peerService, signal });
  await new Promise((resolve) => initiator.client.heartbeat({ sequence: 1 }, resolve));
  await responder.close();
  await initiator.closed;
  console.log('closed');
}

void main();
