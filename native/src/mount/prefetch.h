// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <vector>

#include "mount/inode_walk.h"

namespace keibi::mount {

// The largest file that arrives in one round trip on any path.
inline constexpr uint64_t kMostSmallBytes = uint64_t{256} << 10;

// Prefetches small files and listings when a program walks the tree in order. Several walks run at once, each with a
// window that doubles as it continues. Any thread.
class Prefetch {
 public:
  // Requests to send now.
  struct Plan {
    std::vector<uint64_t> files, lists;
  };

  explicit Prefetch(const InodeWalk& walk) : walk_(walk) {}

  // A program opens a small file to read it, or a directory. `most_bytes`: the limit of bytes on their way.
  Plan Opened(uint64_t ino, bool directory, uint64_t most_bytes);
  // A planned listing has arrived, or has failed.
  Plan Listed(uint64_t most_bytes);
  // While the other peer is away no plan is made.
  void SetAway(bool away);

 private:
  struct Step : Upcoming {
    bool asked = false;
  };
  struct Walk {
    uint64_t top = 0, at = 0;
    bool file = false;  // the walk has opened a file
    size_t files = 0;   // the window of files; `lists`: of directories
    size_t lists = 0;
    uint64_t listings = 0;  // InodeWalk::listings() when `next` was computed
    std::deque<Step> next;  // the successors of `at`
  };

  // All with mutex_ held.
  bool Goes(Walk* walk, uint64_t ino, bool directory);
  void LookAhead(Walk* walk) const;
  static size_t Ahead(const Walk& walk);
  void Add(Walk* walk, uint64_t most_bytes, Plan* plan);

  const InodeWalk& walk_;
  std::mutex mutex_;
  std::list<Walk> prefetch_;  // most recently continued first
  size_t listing_ = 0;        // requested and not yet answered
  bool away_ = false;
};

}  // namespace keibi::mount
