// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "core/status.h"

namespace keibi::stream {

// A content of a file that somebody reads: what it was when it was named.
struct HeldContent {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  // Of the file that was found to have it, once it was.
  std::optional<std::pair<dev_t, ino_t>> inode;
};

// kOk if the open file has that content, or has it at its beginning and has grown since; kSourceChanged if it is
// another, kSourceUnreadable. `held` gets the inode.
core::Status CheckHeld(int fd, HeldContent* held);

// When a file was made. Nothing where that is not told. One per system, chosen by the build.
std::optional<int64_t> BirthNs(int fd);

}  // namespace keibi::stream
