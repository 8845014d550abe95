// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

namespace keibi::disk {

// Identifies the content of a file: another size or time is another content.
struct FileVersion {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  bool operator==(const FileVersion&) const = default;
};

}  // namespace keibi::disk
