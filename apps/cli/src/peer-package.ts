// SPDX-License-Identifier: MPL-2.0

/** The packages' functions that commands use. Passed in, so that they load only when a command runs and tests can replace them. */
export type PeerPackage = typeof import('./peer-functions.ts');
