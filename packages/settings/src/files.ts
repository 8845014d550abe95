// SPDX-License-Identifier: MPL-2.0

// The entry point for private files alone: a command that only reads one does not load networks and servers.
export { configDirOf } from './config-directory.ts';
export { fileError } from './disk-full.ts';
export { tryLockFile, withLock } from './lock-file.ts';
export { type FileUse, readCopy, readPrivate, writePrivate } from './private-file.ts';
