// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace keibi::mount {

// The files without an overlay whose last put was not synced to the other peer's disk. Any thread; `mutex_` guards the
// set.
class UnsyncedFiles {
 public:
  bool Contains(uint64_t ino) const {
    const std::scoped_lock lock(mutex_);
    return inos_.contains(ino);
  }
  void Add(uint64_t ino) {
    const std::scoped_lock lock(mutex_);
    inos_.insert(ino);
  }
  bool Remove(uint64_t ino) {  // whether it was one of them
    const std::scoped_lock lock(mutex_);
    return inos_.erase(ino) > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<uint64_t> inos_;
};

}  // namespace keibi::mount
