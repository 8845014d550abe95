// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <vector>

#include "core/limits.h"
#include "core/whole_io.h"
#include "platform/copy_file.h"

// Written from the manual pages, never compiled (docs/PORTING.md). clonefile(2) cannot fill an existing file, so this
// copies.
namespace keibi::platform {
namespace {

bool CopyBytes(int from, int to, off_t at, off_t end) {
  std::vector<uint8_t> buffer(core::kChunkBytes);
  while (at < end) {
    const auto left = std::min(buffer.size(), static_cast<size_t>(end - at));
    const ssize_t got = core::ReadWhole(from, buffer.data(), left, static_cast<uint64_t>(at));
    if (got <= 0) return got == 0;  // the file is shorter by now
    if (!core::WriteWhole(to, buffer.data(), static_cast<size_t>(got), static_cast<uint64_t>(at))) return false;
    at += got;
  }
  return true;
}

}  // namespace

bool CopyContent(int from, int to, int64_t size) { return CopyData(from, to, size, CopyBytes); }

}  // namespace keibi::platform
