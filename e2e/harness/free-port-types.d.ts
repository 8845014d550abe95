// SPDX-License-Identifier: MPL-2.0
declare module '*/free-port.mjs' {
  export function freePort(): Promise<number>;
}
