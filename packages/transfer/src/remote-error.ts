// SPDX-License-Identifier: MPL-2.0
import { type ServiceError, status } from '@grpc/grpc-js';
import { KeibiError, isErrorCode } from '@keibidrop/protocol';

/** What a call's failure means: an ErrorCode that the other side put into its status, else that the session is gone. */
export function remoteError(error: unknown): KeibiError {
  if (error instanceof KeibiError) return error;
  const { code, details } = error as Partial<ServiceError>;
  const named = details?.split(':', 1)[0];
  if (named !== undefined && isErrorCode(named)) {
    return new KeibiError(named, undefined, { cause: error, detail: { remote: true } });
  }
  const ended = code === status.CANCELLED || code === status.UNAVAILABLE;
  return new KeibiError(ended ? 'SESSION_LOST' : 'HANDSHAKE_MALFORMED', undefined, { cause: error });
}
