// SPDX-License-Identifier: MPL-2.0
import { encodeFromDaemon, type FromDaemon, type FromHost } from '@keibidrop/proto/mount-host';

// Names for the messages of proto/mount-host.mjs, and short ways to encode some.

type Named<Name extends FromHost['type']> = FromHost & { type: Name };
export type LockRequest = Named<'lock' | 'testLock' | 'unlock'>;
export type ChangeRequest = Named<
  | 'make'
  | 'remove'
  | 'rename'
  | 'change'
  | 'copy'
  | 'getAttribute'
  | 'setAttribute'
  | 'removeAttribute'
  | 'listAttributes'
  | 'syncDirectory'
  | 'put'
>;
export type ListRequest = Named<'list' | 'look'>;
export type WantRequest = Named<'want'>;
export type FetchRequest = Named<'fetch'>;
type Change = (FromDaemon & { type: 'changes' })['changes'][number];
export type UnsentReport = Named<'unsent'>;

const EMPTY = new Uint8Array(0);

/** The end of an answer. @param body  the fields of the answer */
export function doneMessage(request: number, body: Uint8Array = EMPTY): Buffer {
  return encodeFromDaemon({ type: 'done', request, systemError: 0, body });
}

export function failedMessage(request: number, systemError: number): Buffer {
  return encodeFromDaemon({ type: 'done', request, systemError, body: EMPTY });
}

/** A part of an answer: entries as in a manifest, or the request's own format. */
export function pageMessage(request: number, body: Uint8Array): Buffer {
  return encodeFromDaemon({ type: 'page', request, body });
}

export function flagMessage(type: 'watched' | 'away' | 'unmount', flag: boolean): Buffer {
  return encodeFromDaemon({ type, flag });
}

export function changesMessage(changes: readonly Change[]): Buffer {
  return encodeFromDaemon({ type: 'changes', changes: [...changes] });
}
