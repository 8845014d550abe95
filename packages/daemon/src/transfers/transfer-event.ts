// SPDX-License-Identifier: MPL-2.0
import type { PeerEvent, TransferCounts } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import type { Emitted, Happened } from '../event-stream.ts';

/**
 * Converts an event of packages/peer to the daemon's; undefined if clients get none.
 *
 * @param several  several receivers may be served, so an event of one receiver carries its number
 */
export function transferEvent(event: PeerEvent, several: boolean): Emitted | undefined {
  // With one receiver its end is the end of the transfer, which `done` reports.
  if (event.type === 'receiverDone' && !several) return undefined;
  const happened = happenedOf(event);
  if (happened === undefined) return undefined;
  return {
    happened,
    contact: 'contact' in event ? event.contact : undefined,
    receiver: several && 'session' in event ? event.session : undefined,
  };
}

function happenedOf(event: PeerEvent): Happened | undefined {
  switch (event.type) {
    case 'accepted':
      return undefined;
    case 'code':
      return { $case: 'code', value: { code: event.code } };
    case 'inviting':
      return { $case: 'inviting', value: { state: event.state } };
    case 'waiting':
      return { $case: 'waiting', value: { host: event.host, port: event.port } };
    case 'rendezvous': {
      const { state, address, relay, message } = event;
      return { $case: 'rendezvous', value: { state, address, relay, message } };
    }
    case 'mapping': {
      const { state, address, by, message } = event;
      return { $case: 'mapping', value: { state, address, by, message } };
    }
    case 'looking':
      return { $case: 'looking', value: {} };
    case 'connected': {
      const { path, suite, peer, verified, tried = [] } = event;
      return { $case: 'connected', value: { path, suite, peer, verified, tried: [...tried] } };
    }
    case 'reconnecting': {
      const { reason, attempt, nextInMs } = event;
      return { $case: 'reconnecting', value: { reason, attempt, nextInMs } };
    }
    case 'paused':
      return { $case: 'paused', value: { paused: event.paused, by: event.by } };
    case 'offer':
      return { $case: 'offer', value: { files: event.files, bytes: event.bytes } };
    case 'progress': {
      const { files, bytes, totalFiles, totalBytes, totalsFinal, resumedBytes } = event;
      const bytesPerSecond = Math.round(event.bytesPerSecond);
      const value = { files, bytes, totalFiles, totalBytes, totalsFinal, bytesPerSecond, resumedBytes };
      return { $case: 'progress', value };
    }
    case 'file':
      return { $case: 'file', value: { path: event.path } };
    case 'failed':
      return { $case: 'failed', value: { path: event.path, code: event.code, message: event.message } };
    case 'text':
      return { $case: 'text', value: { text: event.text } };
    case 'warning': {
      const { message, path, count, names = [] } = event;
      return { $case: 'warning', value: { message, path, count, names: [...names] } };
    }
    case 'saved':
      return { $case: 'saved', value: { fingerprint: event.fingerprint } };
    case 'wrongCode':
      return { $case: 'wrongCode', value: { remaining: event.remaining } };
    case 'receiverLost': {
      const { peer, code, message, mayReturn } = event;
      return { $case: 'receiverLost', value: { peer, code, message, mayReturn } };
    }
    case 'receiverDone':
      return {
        $case: 'receiverDone',
        value: { peer: event.peer, counts: countsOf(event), failed: event.failed },
      };
    case 'done':
      return event.failed === 0 ? { $case: 'done', value: countsOf(event) } : undefined;
  }
}

function countsOf({ files, bytes, skipped, resumedBytes, seconds }: TransferCounts): local.Counts {
  return { files, bytes, skipped, resumedBytes, seconds: Math.round(seconds * 1000) / 1000 };
}
