// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keibi::disk {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// Whether ranges ascend, do not overlap, and end within `size`.
bool AreInOrder(const std::vector<ByteRange>& ranges, uint64_t size);

// Limit of one put.
inline constexpr size_t kMaxRanges = size_t{1} << 16;

}  // namespace keibi::disk
