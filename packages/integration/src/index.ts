// SPDX-License-Identifier: MPL-2.0

// Files that make a Linux desktop know KeibiDrop: the menu entry with its links, the start at login, and "Send with KeibiDrop"
// in the file managers. Pure texts: `keibidrop integrate`, the window and scripts/package-desktop decide where they lie.
export { autostartEntry, DESKTOP_ID, desktopEntry, ICON_NAME, LINK_TYPE } from './desktop-entry.ts';
export { dolphinMenu, nautilusScript, nemoAction, thunarEntry } from './send-actions.ts';
export { isWritten, WRITTEN_BY } from './written-mark.ts';
