// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, failureDetails, grpcStatusOf, isWireCode, KeibiError, peerError } from '@keibidrop/protocol';

/** How an ErrorCode crosses the control plane: as the status of a call, its name in the details. */
export function refusal(code: ErrorCode): { code: number; details: string } {
  return { code: grpcStatusOf(code), details: code };
}

/** The same of a failure that says more than its code. */
export function refusalOf(failure: KeibiError): { code: number; details: string } {
  return { code: grpcStatusOf(failure.code), details: failureDetails(failure) };
}

/** What the failure of a call means: the ErrorCode of a `refusal` by the other side, else that the session is gone. */
export function failureOf(error: Error & { details?: string }): KeibiError {
  const { details } = error;
  if (details === undefined || !isWireCode(details)) return KeibiError.from(error, 'SESSION_LOST');
  return peerError(details, { cause: error });
}

/** Refuses a call with a stream at the server's side; `destroy` of it would leave the caller waiting. */
export function refuseCall(call: { emit(event: 'error', status: object): boolean }): void {
  call.emit('error', refusal('SESSION_CLOSED'));
}
