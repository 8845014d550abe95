// SPDX-License-Identifier: MPL-2.0
import type { PeerEvent, TransferCounts } from './events.ts';

/** One object of `--json`: `event` and its fields. */
export interface EventJson {
  readonly event: string;
  readonly [field: string]: unknown;
}

export interface EventJsonOptions {
  verbose: boolean;
  receivers: boolean;
}

/**
 * Converts an event to its JSON for programs (docs/cli.md); undefined if it has none.
 *
 * @param options.receivers  several receivers may be served, so an event of one receiver carries its number
 */
export function eventJson(event: PeerEvent, options: EventJsonOptions): EventJson | undefined {
  // With one receiver its end is the end of the run, which `done` reports.
  if (event.type === 'receiverDone' && !options.receivers) return undefined;
  const fields = fieldsOf(event, options);
  if (fields === undefined) return undefined;
  const receiver = options.receivers && 'session' in event ? { receiver: event.session } : {};
  const contact = 'contact' in event && event.contact !== undefined ? { contact: event.contact } : {};
  return { event: event.type, ...fields, ...contact, ...receiver };
}

function fieldsOf(event: PeerEvent, { verbose }: EventJsonOptions): object | undefined {
  switch (event.type) {
    case 'connected':
      return {
        path: event.path,
        suite: event.suite,
        peer: event.peer,
        ...(event.verified !== undefined && { verified: event.verified }),
        ...(event.tried?.length && { tried: event.tried }),
      };
    case 'accepted':
      return undefined;
    case 'offer':
      return { files: event.files, bytes: event.bytes, ...(event.leftOut !== undefined && { leftOut: event.leftOut }) };
    case 'progress':
      return {
        files: event.files,
        bytes: event.bytes,
        totalBytes: event.totalBytes,
        bytesPerSecond: Math.round(event.bytesPerSecond),
        ...(event.file !== undefined && { file: event.file }),
      };
    case 'file':
      return verbose ? { path: event.path } : undefined;
    case 'failed':
      return { path: event.path, code: event.code, message: event.message };
    case 'paused':
      return { paused: event.paused, by: event.by };
    case 'receiverDone':
      return { peer: event.peer, ...countsOf(event), failed: event.failed };
    case 'receiverLost':
      return { peer: event.peer, code: event.code, message: event.message, mayReturn: event.mayReturn };
    case 'done':
      return event.failed === 0 ? countsOf(event) : undefined;
    default: {
      const { type: _, ...fields } = event;
      return fields;
    }
  }
}

function countsOf({ files, bytes, skipped, resumedBytes, seconds }: TransferCounts): TransferCounts {
  return { files, bytes, skipped, resumedBytes, seconds: Math.round(seconds * 1000) / 1000 };
}
