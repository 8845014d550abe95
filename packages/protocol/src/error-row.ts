// SPDX-License-Identifier: MPL-2.0

export type Retry = 'never' | 'later' | 'reconnect';

/** The properties of an error code. */
export interface Row {
  readonly retry: Retry;
  readonly exit: number;
  readonly grpc: number;
  readonly text: string;
}

/** The gRPC statuses that the table uses, by name (grpc.io, statuscodes). */
const grpc = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export function row(retry: Retry, exit: number, status: keyof typeof grpc, text: string): Row {
  return { retry, exit, grpc: grpc[status], text };
}
