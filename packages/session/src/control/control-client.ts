// SPDX-License-Identifier: MPL-2.0
import { type ChannelInterface, credentials } from '@grpc/grpc-js';
import { PeerClient } from '@keibidrop/proto';

/** A client of the Peer service at the other end of `channel`. `client.close()` ends the channel. */
export function createControlClient(channel: ChannelInterface): PeerClient {
  return new PeerClient('peer', credentials.createInsecure(), { channelOverride: channel });
}
