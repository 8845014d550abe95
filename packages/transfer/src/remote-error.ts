// SPDX-License-Identifier: MPL-2.0
import { status } from '@grpc/grpc-js';
import { callFailureIn, type ErrorCode, grpcStatusOf, isWireCode, KeibiError, peerError } from '@keibidrop/protocol';

/** Node's error code at the reader of a served call whose connection is gone. */
const CALL_CUT = 'ERR_STREAM_PREMATURE_CLOSE';

/** Converts a failed call: the ErrorCode in its status, else SESSION_LOST. */
export function remoteError(error: unknown): KeibiError {
  if (error instanceof KeibiError) return error;
  const { code, details } = error as { code?: number | string; details?: string };
  const refused = callFailureIn(details, { cause: error });
  if (refused !== undefined) return refused;
  const named = details?.split(':', 1)[0];
  if (named !== undefined && isWireCode(named)) return peerError(named, { cause: error });
  const ended = code === status.CANCELLED || code === status.UNAVAILABLE || code === CALL_CUT;
  return new KeibiError(ended ? 'SESSION_LOST' : 'HANDSHAKE_MALFORMED', undefined, { cause: error });
}

/** Ends a call at the server with an ErrorCode as its status; `destroy` would leave the caller waiting. */
export function failCall(call: { emit(event: 'error', status: object): boolean }, code: ErrorCode): void {
  call.emit('error', { code: grpcStatusOf(code), details: code });
}
