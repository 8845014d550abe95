// SPDX-License-Identifier: MPL-2.0

// The part of this package that keeps contacts, by itself: a command that only reads a file does not wait for networks and sessions to load.
export { configDirOf } from '../config-directory.ts';
export { assertOthers } from './contact.ts';
export { ContactStore } from './contact-store.ts';
export { assertUsableFolder } from './rule-folder.ts';
