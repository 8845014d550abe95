// SPDX-License-Identifier: MPL-2.0

// The entry point for stored contacts alone: a command that only reads the file does not load networks and sessions.
export { configDirOf } from '@keibidrop/settings/files';
export { assertOthers } from './contact.ts';
export { ContactStore } from './contact-store.ts';
export { assertUsableFolder } from './rule-folder.ts';
