// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuse/block_waiter.h"
#include "fuse/content.h"
#include "fuse/daemon_requests.h"
#include "fuse/locking.h"
#include "fuse/lowlevel.h"
#include "fuse/mounted_folder.h"
#include "fuse/notifier.h"
#include "fuse/overlays.h"
#include "fuse/passthrough.h"
#include "fuse/pending_requests.h"
#include "fuse/prefetcher.h"
#include "fuse/vouched.h"
#include "mount/daemon_link.h"
#include "mount/inode_table.h"
#include "mount/prefetch.h"
#include "mount/write_back.h"

namespace keibi::fuse {

// The largest single FUSE read and write.
inline constexpr size_t kMostReadBytes = size_t{1} << 20;
inline constexpr size_t kMostWriteBytes = size_t{1} << 20;

struct Options {
  std::string folder;  // absolute: where it is mounted
  std::string name;    // the name of the file system in `mount`
  std::chrono::milliseconds patience{30'000};
  uint64_t cache_bytes = 0;  // limit of the cache, not counting open files
  bool writable = false;
  std::string label;   // of this side, in the names of conflict copies
  bool locks = false;  // take locks at the other peer; else the kernel keeps them
};

// Mode bits that a mount refuses to set.
inline constexpr mode_t kRefusedBits = 07000;  // set-uid, set-gid, sticky

// The state of one mount, shared by the groups of operations, and the requests to its daemon.
struct Parts {
  Parts(Options given, int daemon, int cache);

  const Options options;
  mount::InodeTable inodes;
  mount::DaemonLink link;
  Contents contents;
  PendingRequests pending_requests;
  BlockWaiter block_waiter;
  Notifier notifier;
  Passthrough passthrough;
  KernelReadAhead read_ahead;
  DaemonRequests requests;
  Prefetcher prefetcher;
  Overlays overlays;
  mount::WriteBack write_back;
  Locking locking;
  mount::Prefetch prefetch;
  Vouched vouched;
  std::atomic<uint32_t> most_ahead;  // blocks, as last reported by the daemon
};

}  // namespace keibi::fuse
