// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <vector>

#include "mount/tree.h"

namespace keibi::mount {

// A file that comes in one round trip, however far the other peer is.
inline constexpr uint64_t kMostSmallBytes = uint64_t{256} << 10;

// Who goes from one small file, or directory, of the tree to the next: what comes behind is asked for before it is
// opened. Several at once, each with a window that doubles as long as it goes on. Any thread.
class Walks {
 public:
  // To be asked for now.
  struct Plan {
    std::vector<uint64_t> files, lists;
  };

  explicit Walks(const Tree* tree) : tree_(tree) {}

  // Somebody opens a small file to read it, or a directory. `most_bytes`: on their way at most.
  Plan Opened(uint64_t ino, bool directory, uint64_t most_bytes);
  // A listing of a plan is there, or will not be.
  Plan Listed(uint64_t most_bytes);
  // Nothing is planned while the other peer is away.
  void SetAway(bool away);

 private:
  struct Step : Upcoming {
    bool asked = false;
  };
  struct Walk {
    uint64_t top = 0, at = 0;
    bool file = false;  // a file of it has been opened
    size_t files = 0;   // the window of files, of directories
    size_t lists = 0;
    uint64_t listings = 0;  // that were known when `next` was looked for
    std::deque<Step> next;  // what comes behind `at`
  };

  // All with mutex_ held.
  bool Goes(Walk* walk, uint64_t ino, bool directory);
  void LookAhead(Walk* walk) const;
  static size_t Ahead(const Walk& walk);
  void Add(Walk* walk, uint64_t most_bytes, Plan* plan);

  const Tree* const tree_;
  std::mutex mutex_;
  std::list<Walk> walks_;  // that first which went on last
  size_t listing_ = 0;     // on their way
  bool away_ = false;
};

}  // namespace keibi::mount
