// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <vector>

#include "platform/lock_ranges.h"

namespace keibi::platform {

// Keeps other programs of this computer from a file while it changes. It locks the whole file, for programs that
// respect locks. If no other program has the file open, a lease also delays new opens. One implementation per system.
class WriteGuard {
 public:
  // `fd` is open for writing, and outlives this. `spans`: the parts to lock; the writer has already locked the rest.
  explicit WriteGuard(int fd, const std::vector<LockSpan>& spans = {LockSpan{}});
  WriteGuard(const WriteGuard&) = delete;
  WriteGuard& operator=(const WriteGuard&) = delete;
  ~WriteGuard();

  // Another program has locked a part of it.
  bool locked_out() const { return locked_out_; }
  // No other program can change the file.
  bool alone() const { return alone_; }

  // Whether another program has locked a part of these spans now.
  static bool IsLocked(int fd, const std::vector<LockSpan>& spans = {LockSpan{}});

 private:
  [[maybe_unused]] const int fd_;
  bool locked_out_ = false, alone_ = false;
};

}  // namespace keibi::platform
