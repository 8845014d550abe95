// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "core/fd.h"

namespace keibi::fuse {

// Takes what is mounted on `folder` away: as root by umount2(2), else by fusermount3. With `forced` also from under
// those who use it, for whom it ends then. An errno, EBUSY if somebody uses it; 0 if it has gone.
int Unmount(const std::string& folder, bool forced);

// How far the kernel reads ahead by itself, which it decides when a file is opened: of a long file as far as several
// requests go, of any other so far that its beginning costs little. Where it does not let us, as far as it likes.
class KernelReadAhead {
 public:
  // Call at the first request, not before: the answer to INIT lowers the setting.
  void Attach(const std::string& folder);
  // Before the kernel hears that a file of so many bytes is open. Any thread.
  void Opening(uint64_t file_bytes);

 private:
  std::mutex mutex_;
  core::Fd setting_;  // none where it cannot be set
  bool is_long_ = false;
};

}  // namespace keibi::fuse
