// SPDX-License-Identifier: MPL-2.0
export function freePort(): Promise<number>;
