// SPDX-License-Identifier: MPL-2.0
import { type ErrorDetail, KeibiError } from './errors.ts';

/** Every `version` field on the wire has this value. */
export const PROTOCOL_VERSION = 1;

/**
 * The error for a peer that speaks another version of the protocol: PEER_NEWER or PEER_OLDER, or HANDSHAKE_MALFORMED if
 * it names our own. `remote`: the peer has refused our version, so it needs no answer.
 */
export function otherVersion(theirs: number, { remote = false } = {}): KeibiError {
  const detail: ErrorDetail = { version: theirs, ...(remote && { remote }) };
  if (theirs === PROTOCOL_VERSION) return new KeibiError('HANDSHAKE_MALFORMED', undefined, { detail });
  return new KeibiError(theirs > PROTOCOL_VERSION ? 'PEER_NEWER' : 'PEER_OLDER', undefined, { detail });
}

/** Whether our side found that the peer speaks another version, so that the peer can be notified. */
export function isOtherVersion(error: unknown): boolean {
  const found = error instanceof KeibiError && (error.code === 'PEER_NEWER' || error.code === 'PEER_OLDER');
  return found && error.detail?.remote !== true;
}
