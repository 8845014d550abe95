// SPDX-License-Identifier: MPL-2.0

// Shows the files of a source as a folder of this machine. The mount host (native/src/fuse, or src/fuse-native), a process of its own, talks to the kernel and has
// the tree; this side starts it, answers what it asks from a source, and clears away what a killed one leaves. It knows no session, share or
// daemon: the peer package brings sources.
export { type BackendName, usableBackend, whyNotMountable } from './backend.ts';
export { LocalSource } from './local-source.ts';
export { type Mount, type MountOptions, mount } from './mount.ts';
export type * from './mount-source.ts';
export { clearStaleMount, type Mounted, mountedAt, mountsOfOurs } from './mount-table.ts';
