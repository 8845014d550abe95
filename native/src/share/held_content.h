// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "core/status.h"

namespace keibi::share {

// The version of a file that a reader holds: size and mtime when the reader first named it.
struct HeldContent {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  // Inode of the file that CheckHeld accepted; empty before.
  std::optional<std::pair<dev_t, ino_t>> inode;
};

// kOk if the open file has that content, or begins with it and has grown since. kSourceChanged for other content,
// kSourceUnreadable. Stores the inode in `held`.
core::Status CheckHeld(int fd, HeldContent* held);

}  // namespace keibi::share
