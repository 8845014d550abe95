// SPDX-License-Identifier: MPL-2.0

// Folders shared live: the sharer, the guests, pulls, and the source that a mount reads and writes.

export { overlap, refuseShownWithin } from './folder-overlap.ts';
export { GuestSource } from './guest/guest-source.ts';
export { KnownShares } from './guest/known-shares.ts';
export { ShareGuest } from './guest/share-guest.ts';
export { shareEventJson } from './share-event-json.ts';
export type { PulledEvent, PullFailedEvent, PullProgressEvent, ShareEvent } from './share-events.ts';
export { openSharing, type Sharing, share } from './sharer/share.ts';
export type { ShareOptions } from './sharer/share-options.ts';
export { shareWithContacts } from './sharer/share-with-contacts.ts';
