// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::stream {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// A mount's changes to a file, at their offsets in KEY.data of a directory, with the ranges to write (PROTOCOL 11.2).
// Read-only here.
class Draft {
 public:
  // kSourceMissing, kSourceUnreadable.
  core::Status Open(const std::string& directory, const std::string& key);
  // Reads exactly `bytes` bytes. kSizeMismatch if there are fewer; kSourceUnreadable. Any thread.
  core::Status Read(uint64_t offset, uint8_t* to, size_t bytes) const;

 private:
  core::Fd data_;
};

// Whether ranges ascend, do not overlap, and end within `size`.
bool AreInOrder(const std::vector<ByteRange>& ranges, uint64_t size);

// Limit of one put.
inline constexpr size_t kMaxRanges = size_t{1} << 16;

}  // namespace keibi::stream
