// SPDX-License-Identifier: MPL-2.0
import { relayLaneTokens } from '@keibidrop/session';
import type { IncomingPeer } from './incoming-peer.ts';
import type { ListeningPort } from './listening-port.ts';

/**
 * Waits at the relay for the lanes of a peer that came through it, until the returned function is called. Does nothing for
 * other peers.
 */
export function awaitRelayedLanes(
  { incoming: { relayed, remoteAddress: host, remotePort: port }, keys: { laneSecret } }: IncomingPeer,
  { reach }: Pick<ListeningPort, 'reach'>,
): () => void {
  if (!relayed) return () => {};
  const over = new AbortController();
  void relayLaneTokens(laneSecret).then((tokens) => reach.joinLanes({ host, port }, tokens, over.signal));
  return () => over.abort();
}
