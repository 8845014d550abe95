// SPDX-License-Identifier: MPL-2.0
import { status } from '@grpc/grpc-js';
import { callFailureIn, type ErrorCode, grpcStatusOf, isWireCode, KeibiError, peerError } from '@keibidrop/protocol';

/** How Node tells the reader of a served call that its connection is gone. */
const CALL_CUT = 'ERR_STREAM_PREMATURE_CLOSE';

/** What a call's failure means: an ErrorCode that the other side put into its status, else that the session is gone. */
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

/** Ends a call at the server's side, with an ErrorCode as its status; `destroy` of it would leave the caller waiting. */
export function failCall(call: { emit(event: 'error', status: object): boolean }, code: ErrorCode): void {
  call.emit('error', { code: grpcStatusOf(code), details: code });
}
