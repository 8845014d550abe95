// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "core/fd.h"

namespace keibi::fuse {

// Unmounts `folder`: as root by umount2(2), else by fusermount3. With `forced` also while it is in use; programs there
// then get errors. Returns 0 if it is unmounted, else an errno: EBUSY if the folder is in use.
int Unmount(const std::string& folder, bool forced);

// Limits the kernel's own read-ahead, which is fixed when a file is opened: several requests for a long file, and
// little for any other, so that its beginning is cheap. Where the limit cannot be set, the kernel's default applies.
class KernelReadAhead {
 public:
  // Call at the first request, not before: the answer to INIT lowers the setting.
  void Attach(const std::string& folder);
  // Call before the kernel learns that a file of this size is open. Any thread.
  void Opening(uint64_t file_bytes);

 private:
  std::mutex mutex_;
  core::Fd setting_;  // invalid where it cannot be set
  bool is_long_ = false;
};

}  // namespace keibi::fuse
