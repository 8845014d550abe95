// SPDX-License-Identifier: MPL-2.0

/** The messages between a mount host and the daemon: mount-host.mjs is the table they come from. */
export * from './gen/mount-host.ts';
export { rules } from './gen/mount-host-rules.ts';
export { cutMessages } from './mount-host-bytes.ts';
