// SPDX-License-Identifier: MPL-2.0

/** A dialog about a contact. */
export type ContactPrompt = 'verify' | 'rename' | 'remove';
