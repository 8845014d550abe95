// SPDX-License-Identifier: MPL-2.0

export { Bench, type DiskRead, type SuiteSpeed } from './bench.ts';
// The TypeScript API of the addon. All sealing, network and file I/O is C++ below it; this side checks arguments, fills
// in defaults and owns the memory that JavaScript reads. It depends on no package of this workspace. Errors are plain
// Errors with a `code`, an ErrorCode of packages/protocol; the packages above turn them into KeibiErrors.
export { findMountHost } from './binding.ts';
export { type CacheFill, fillCache } from './cache-fill.ts';
export { type Change, type ChangeKind, type Changes, ChangeWatch } from './change-watch.ts';
export { type DialFromOptions, dialFrom } from './dial.ts';
export { tryLock } from './file-lock.ts';
export { type AttributeHow, FolderWrites, type MadeEntry, type RenameHow } from './folder-writes.ts';
export { FrameOpener, FrameSealer, hasHardwareAes, libcryptoVersion, type Suite } from './frame.ts';
export type { LaneWay } from './lane-dial.ts';
export { type Incoming, Listener, type RelayLimits, type RelayPlace, type RelayStats } from './listener.ts';
export { type FoundLock, type LockSpan, LockTable, type WantedLock } from './lock-table.ts';
export { type MlKem1024, mlKem1024 } from './ml-kem.ts';
export { RateBudget } from './rate-budget.ts';
export { CACHE_BLOCK_BYTES, ReadJob, type ReadNews } from './read-job.ts';
export {
  type Collision,
  type LaneState,
  ReceiveJob,
  type ReceiveNews,
  type ReceivePlan,
  type ReceiveProgress,
} from './receive-job.ts';
export {
  type LaneEnd,
  type LaneKeys,
  MAX_EXCLUDE_BYTES,
  NO_ENTRY,
  type Page,
  type Partial,
  type Problem,
  type Root,
  type Selection,
  SendJob,
  type SendNews,
  type WalkTotals,
} from './send-job.ts';
export { ServeJob } from './serve-job.ts';
export { type Listing, type ListingPage, SharedFolder } from './shared-folder.ts';
export { findUnsendable, type Unsendable } from './unsendable.ts';
export { WriteJob, type WriteNews } from './write-job.ts';
