// SPDX-License-Identifier: MPL-2.0

export type Sodium = typeof import('libsodium-wrappers-sumo')['default'];

let loading: Promise<Sodium> | undefined;

/** Loads libsodium, once per process. It takes 25 ms, which a command without a meeting does not pay. */
export function loadSodium(): Promise<Sodium> {
  loading ??= import('libsodium-wrappers-sumo').then(async ({ default: sodium }) => {
    await sodium.ready;
    return sodium;
  });
  return loading;
}

/** Overwrites secrets that are no longer needed. */
export function wipe(...secrets: readonly (Uint8Array | undefined)[]): void {
  for (const secret of secrets) secret?.fill(0);
}
