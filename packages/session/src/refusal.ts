// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, grpcStatusOf } from '@keibidrop/protocol';

/** How an ErrorCode crosses the control plane: as the status of a call, its name in the details. */
export function refusal(code: ErrorCode): { code: number; details: string } {
  return { code: grpcStatusOf(code), details: code };
}
