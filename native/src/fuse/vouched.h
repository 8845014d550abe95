// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace keibi::fuse {

// Files whose version the other peer has just confirmed for a walk. The first open of one need not ask again, else each
// small file of a walk would cost a round trip. Any thread.
class Vouched {
 public:
  void Add(uint64_t ino) {
    const std::scoped_lock lock(mutex_);
    if (files_.size() >= kMost) files_.clear();
    files_[ino] = Clock::now();
  }
  // Returns true once per Add.
  bool Take(uint64_t ino) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(ino);
    if (found == files_.end()) return false;
    const bool fresh = Clock::now() - found->second < kLongest;
    files_.erase(found);
    return fresh;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongest{1};
  static constexpr size_t kMost = 4096;

  std::mutex mutex_;
  std::unordered_map<uint64_t, Clock::time_point> files_;
};

}  // namespace keibi::fuse
