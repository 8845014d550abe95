// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <vector>

#include "stream/lock_ranges.h"

namespace keibi::stream {

// Keeps other programs of this computer off a file while it changes: by a lock on all of it, which programs that lock
// respect, and, if none has it open, by a lease that delays new opens. One implementation per system.
class WriteGuard {
 public:
  // `fd` is open for writing, and outlives this. `spans`: what is to be locked; the rest the writer has locked already.
  explicit WriteGuard(int fd, const std::vector<LockSpan>& spans = {LockSpan{}});
  WriteGuard(const WriteGuard&) = delete;
  WriteGuard& operator=(const WriteGuard&) = delete;
  ~WriteGuard();

  // Another program has locked a part of it.
  bool locked_out() const { return locked_out_; }
  // No other program can change it.
  bool alone() const { return alone_; }

  // Whether another program has locked a part of these spans now.
  static bool IsLocked(int fd, const std::vector<LockSpan>& spans = {LockSpan{}});

 private:
  [[maybe_unused]] const int fd_;
  bool locked_out_ = false, alone_ = false;
};

}  // namespace keibi::stream
