// SPDX-License-Identifier: MPL-2.0
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { type ErrorCode, type ErrorDetail, grpcStatusOf, isErrorCode, KeibiError } from '@keibidrop/protocol';

/** A KeibiError as it passes through gRPC and HTTP. */
export interface LocalError {
  code: ErrorCode;
  message: string;
  detail?: ErrorDetail;
}

/** Binary metadata, because the text may be in any language. */
const KEY = 'keibidrop-error-bin';

export function localErrorOf(reason: unknown): LocalError {
  const { code, message, detail } = KeibiError.from(reason, 'INTERNAL');
  return { code, message, ...(detail && { detail: plain(detail) }) };
}

/** A daemon of a later version may send unknown codes. */
export function errorOf({ code, message, detail }: Omit<LocalError, 'code'> & { code: string }): KeibiError {
  return isErrorCode(code) ? new KeibiError(code, message, detail && { detail }) : new KeibiError('INTERNAL', message);
}

/** Converts a failure to a gRPC status. */
export function statusOf(reason: unknown): StatusObject {
  const error = localErrorOf(reason);
  const metadata = new Metadata();
  metadata.set(KEY, Buffer.from(JSON.stringify(error)));
  return { code: grpcStatusOf(error.code), details: error.code, metadata };
}

/** Converts the status of a failed call to its error. */
export function errorOfStatus(reason: unknown): KeibiError {
  const { metadata, code } = reason as Partial<ServiceError>;
  const [encoded] = metadata?.get(KEY) ?? [];
  if (Buffer.isBuffer(encoded)) return errorOf(JSON.parse(encoded.toString()));
  const gone = code === status.UNAVAILABLE || code === status.CANCELLED;
  return new KeibiError(gone ? 'DAEMON_LOST' : 'INTERNAL', undefined, { cause: reason });
}

/** Keeps only the parts of the detail that JSON shows. Causes inside it would become `{}`, and could reveal too much. */
function plain(detail: ErrorDetail): ErrorDetail {
  return JSON.parse(
    JSON.stringify(detail, (_key, value) => (value instanceof Error ? localErrorOf(value) : value)),
  ) as ErrorDetail;
}
