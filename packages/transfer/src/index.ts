// SPDX-License-Identifier: MPL-2.0

// One transfer over a session: the offer, the answer, failures and the outcome. Native code moves the bytes; this package controls it and
// reports to the user. It knows no code, handshake or address; the peer package provides sessions and lanes.
export { EntryList, type ListedEntry, type ListQuery } from './entry-list.ts';
export { EntryLog, type EntryState } from './entry-log.ts';
export type { LanePath, LanePlan } from './lane-manager.ts';
export { LanePolicy } from './lane-policy.ts';
export type { OfferTotals } from './offer.ts';
export { checkedLabel, type FailedEntry, failedEntry, type TransferOutcome, type TransferProgress } from './outcome.ts';
export { type ReceivedTransfer, ReceiveTransfer, type ReceiveTransferOptions } from './receive-transfer.ts';
export { remoteError } from './remote-error.ts';
export { RunTally } from './run-tally.ts';
export { type DigestsHandler, SendTransfer, type SendTransferOptions } from './send-transfer.ts';
