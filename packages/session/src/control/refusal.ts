// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, failureDetails, grpcStatusOf, isWireCode, KeibiError, peerError } from '@keibidrop/protocol';

/** How an ErrorCode crosses the control plane: as a gRPC status with the code's name in the details. */
export function refusal(code: ErrorCode): { code: number; details: string } {
  return { code: grpcStatusOf(code), details: code };
}

/** Like `refusal`, for a failure with details beyond its code. */
export function refusalOf(failure: KeibiError): { code: number; details: string } {
  return { code: grpcStatusOf(failure.code), details: failureDetails(failure) };
}

/** Converts a failed call: the ErrorCode if the other side sent a `refusal`, else SESSION_LOST. */
export function failureOf(error: Error & { details?: string }): KeibiError {
  const { details } = error;
  if (details === undefined || !isWireCode(details)) return KeibiError.from(error, 'SESSION_LOST');
  return peerError(details, { cause: error });
}

/** Refuses a streaming call on the server side; calling `destroy` would leave the caller waiting. */
export function refuseCall(call: { emit(event: 'error', status: object): boolean }): void {
  call.emit('error', refusal('SESSION_CLOSED'));
}
