// SPDX-License-Identifier: MPL-2.0
declare module '*/known-bytes.mjs' {
  export function recordOf(number: number, bytes: number): Buffer;
  export function numberOf(bytes: Uint8Array): number | undefined;
}
