// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "mount/deferred_calls.h"

namespace keibi::mount {

// Limits the unsent data of a mount: its bytes, and its files. Writers that find it full wait in order. Any thread;
// `mutex_` guards the files and the writers, and no other lock is taken while it is held.
class DirtyLimit {
 public:
  using Then = std::function<void(int error)>;
  using Time = std::chrono::steady_clock::time_point;

  DirtyLimit(uint64_t most_bytes, size_t most_files) : most_bytes_(most_bytes), most_files_(most_files) {}

  // The total of unsent bytes. Each overlay adds its own to it.
  std::atomic<uint64_t>* total() { return &bytes_; }
  uint64_t bytes() const { return bytes_; }
  void AddFile();
  void RemoveFile();

  // Whether a writer must wait: also while another one does.
  bool IsFull() const;
  bool HasWriters() const;  // that wait
  void Wait(Time until, Then then);
  // Lets writers continue, as many as the limit allows.
  void LetWrite(DeferredCalls* calls);
  // Ends the waits that have taken too long: ETIMEDOUT.
  void Expire(Time now, DeferredCalls* calls);

 private:
  bool IsReachedLocked() const { return bytes_ >= most_bytes_ || files_ >= most_files_; }

  const uint64_t most_bytes_;
  const size_t most_files_;
  std::atomic<uint64_t> bytes_{0};
  mutable std::mutex mutex_;
  size_t files_ = 0;
  std::deque<std::pair<Time, Then>> writers_;
};

}  // namespace keibi::mount
