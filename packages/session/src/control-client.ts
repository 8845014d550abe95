// SPDX-License-Identifier: MPL-2.0
import type { Duplex } from 'node:stream';
import { credentials } from '@grpc/grpc-js';
import { PeerClient } from '@keibidrop/proto';
import { openGrpcChannel } from './grpc-duplex.ts';

/**
 * A client of the Peer service at the other end of `duplex`. `client.close()` ends the connection.
 * @param duplex  owned from now on
 */
export function createControlClient(duplex: Duplex): PeerClient {
  return new PeerClient('peer', credentials.createInsecure(), { channelOverride: openGrpcChannel(duplex) });
}
