// SPDX-License-Identifier: MPL-2.0

// The second mount host, for Linux x86-64 without libfuse 3 (docs/decisions/028-fuse-native-apart.md): a program of its own
// (main.ts) on the npm package fuse-native. The daemon imports only how to start it. It speaks the messages of
// proto/mount-host.mjs and knows neither the mount package nor the other host.
export { fuseNativeBackend } from './backend.ts';
