// SPDX-License-Identifier: MPL-2.0
#pragma once

namespace keibi::stream {

// Keeps the other programs of this computer away from a file while it is changed, as far as the system can do that:
// by a lock on all of it, which programs that lock themselves respect, and by a lease, while which nobody else has the
// file open; who opens it waits. One implementation per system, chosen by the build.
class WriteGuard {
 public:
  // `fd` is open for writing, and outlives this.
  explicit WriteGuard(int fd);
  WriteGuard(const WriteGuard&) = delete;
  WriteGuard& operator=(const WriteGuard&) = delete;
  ~WriteGuard();

  // Another program has locked a part of it.
  bool locked_out() const { return locked_out_; }
  // No other program can change it.
  bool alone() const { return alone_; }

  // Whether another program has locked a part of it now.
  static bool IsLocked(int fd);

 private:
  [[maybe_unused]] const int fd_;
  bool locked_out_ = false, alone_ = false;
  [[maybe_unused]] bool locked_ = false;
};

}  // namespace keibi::stream
