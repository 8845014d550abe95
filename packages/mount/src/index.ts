// SPDX-License-Identifier: MPL-2.0

// Shows the files of a source as a folder of this machine. The mount host (native/src/fuse, or packages/fuse-native-host)
// is a process of its own: it serves the kernel and has the tree. This package starts it, answers its requests from a
// source, and cleans up after a killed one. It knows no session, share or daemon: its callers bring sources.
export type { BackendName } from './backend.ts';
export { LocalSource } from './local/local-source.ts';
export { type Mount, type MountOptions, mount } from './mount.ts';
export type * from './mount-source.ts';
export { clearStaleMount, type Mounted, mountedAt, mountsOfOurs } from './mount-table.ts';
export type { Unsent } from './unsent-files.ts';
export { usableBackend, whyNotMountable } from './usable-backend.ts';
